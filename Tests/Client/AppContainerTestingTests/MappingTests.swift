// Tests that touch a mapping which the device has taken away, where another test tells them to.

import AppContainer
import AppContainerTesting
import Foundation
import Testing
import XCTest

@Suite(.appContainer(app: notes, passcode: "1234")) struct MappingTests {
    @Test func `a mapping is touched`() async throws { try await touchMapping(as: Order.given) }
}

final class MappingTestCase: AppContainerTestCase {
    override class var container: ContainerOptions { ContainerOptions(.app(notes), passcode: "1234") }

    override class func setUp() {
        guard Order.given == .touchLockedAndCatch else { return }
        signal(SIGBUS) { _ in
            unsafe write(STDERR_FILENO, "caught\n", 7)
            _exit(3)
        }
    }

    func testAMappingIsTouched() async throws { try await touchMapping(as: Order.given) }
}

private func touchMapping(as order: Order?) async throws {
    let container = AppContainer.current
    let file: String
    switch order {
    case .touchOfHost: file = NSTemporaryDirectory() + "/mapped"
    case .touchOddlyNamed: file = container.path("Documents/ma\\012pped (deleted)")
    case .touchLocked, .touchLockedAndCatch, .touchRestarted, .touchCut, .touchReplaced, .touchRemoved:
        file = container.path("Documents/ma\np\u{9B}p\u{202E}ed")
    default: return
    }
    try Data(repeating: 7, count: 8192).write(to: URL(filePath: file))
    if order != .touchOfHost { try await container.setProtection(.complete, of: file) }
    let descriptor = unsafe open(file, O_RDWR)
    let pages = unsafe mmap(nil, 8192, PROT_READ, MAP_SHARED, descriptor, 0)!
    switch order {
    case .touchRestarted:
        try await container.restart()
        try await container.unlock()
    case .touchCut, .touchOfHost:
        #expect(ftruncate(descriptor, 0) == 0)
        if order == .touchOfHost { unsafe unlink(file) }
    case .touchReplaced:
        // Of another class, which the mapping does not have.
        try Data(repeating: 8, count: 8192).write(to: URL(filePath: file + ".new"))
        try await container.setProtection(FileProtection.none, of: file + ".new")
        #expect(unsafe rename(file + ".new", file) == 0)
        try await container.lock()
    case .touchRemoved:
        #expect(unsafe unlink(file) == 0)
        try await container.lock()
    default: try await container.lock()
    }
    let byte = unsafe pages.load(fromByteOffset: 4096, as: UInt8.self)
    FileHandle.standardError.write(Data("touched: \(byte)\n".utf8))
}
