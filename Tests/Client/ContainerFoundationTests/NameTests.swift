// Tests of the names of protection classes, and of the Cocoa errors of refused calls.

import SandboxModel
import Testing

@testable import ContainerFoundation

@Suite struct NameTests {
    @Test(arguments: [
        (FileProtectionType.complete as any Sendable, ProtectionClass.complete),
        (FileProtectionType.none, .none), (FileProtectionType.completeUnlessOpen, .completeUnlessOpen),
        (URLFileProtection.completeUntilFirstUserAuthentication, .completeUntilFirstUserAuthentication),
        (URLFileProtection.none, .none), ("NSFileProtectionNone", .none),
        (FileProtectionType.completeWhenUserInactive, .complete),
        (URLFileProtection.completeWhenUserInactive, .complete),
    ])
    func `a class is known by any of its names`(value: any Sendable, protection: ProtectionClass) throws {
        #expect(try ProtectionClass(foundationValue: value) == protection)
    }

    @Test(arguments: ["", "NSFileProtection", "complete", "NSURL", "NSFileProtectionCompleteUnlessopen"])
    func `nothing else is a class`(name: String) {
        #expect(throws: SystemError(code: 22)) { try ProtectionClass(foundationValue: name) }
    }

    @Test func `names read back as they were given`() throws {
        for protection in ProtectionClass.allCases {
            #expect(try ProtectionClass(foundationValue: protection.fileProtection) == protection)
            #expect(try ProtectionClass(foundationValue: protection.urlFileProtection) == protection)
        }
        #expect(ProtectionClass.complete.urlFileProtection == .complete)
        #expect(ProtectionClass.completeUnlessOpen.fileProtection == .completeUnlessOpen)
    }

    @Test func `options are a class, or leave it to the directory`() {
        #expect(([.atomic] as Data.WritingOptions).protection == nil)
        #expect(([.atomic, .completeFileProtection] as Data.WritingOptions).protection == .complete)
        #expect(Data.WritingOptions.noFileProtection.protection == ProtectionClass.none)
        #expect(Data.WritingOptions.completeFileProtectionWhenUserInactive.protection == .complete)
    }

    @Test(
        arguments: [
            (1, CocoaError.fileReadNoPermission, CocoaError.fileWriteNoPermission),
            (2, .fileReadNoSuchFile, .fileNoSuchFile), (17, .fileWriteFileExists, .fileWriteFileExists),
            (28, .fileWriteOutOfSpace, .fileWriteOutOfSpace), (30, .fileWriteVolumeReadOnly, .fileWriteVolumeReadOnly),
            (5, .fileReadUnknown, .fileWriteUnknown),
        ] as [(Int32, CocoaError.Code, CocoaError.Code)])
    func `a refused call is the Cocoa error that Foundation makes of it`(
        number: Int32, reading: CocoaError.Code, writing: CocoaError.Code
    ) {
        let error = CocoaError(SystemError(code: number), path: "/a", reading: true)
        #expect(error.code == reading)
        #expect(CocoaError(SystemError(code: number), path: "/a").code == writing)
        #expect(error.filePath == "/a")
        #expect((error.underlying as? POSIXError)?.code.rawValue == number)
    }
}
