// Forged seals with a valid signature: custom rules, nested code and executables of misleading names.

import Foundation
import HashFunctions
import Platform
import SandboxModel
import TestSupport
import Testing

@testable import BundleSeal

@Suite struct ForgedSealTests {
    private let kit = "Frameworks/Kit.framework"

    private func breaks(_ body: (inout CodeResources) -> Void) throws -> [String] {
        let app = try SampleApp.whole().seal()
        try app.resign(body)
        return try app.breaks(trust: SampleApp.trustMine)
    }

    @Test func `the same resources signed again are valid`() throws {
        #expect(try breaks { _ in } == [])
        let app = try SampleApp.whole().seal()
        let list = try unsafe PropertyListSerialization.propertyList(
            from: Data(app.read(SealLayout.resourcesPath)), format: nil)
        let binary = try PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0)
        try app.resign(resources: [UInt8](binary))
        #expect(try app.breaks() == [])
        try app.flip("readme.txt", at: 0)
        #expect(try app.breaks() == ["changed readme.txt"])
    }

    @Test(arguments: [0, 1, 19, 31, 33, 64]) func `a digest of another length holds nothing`(length: Int) throws {
        let digest = HashFunction.sha256.digest(of: Array("read me\n".utf8))
        let other = Array((digest + digest).prefix(length))
        let broken = try breaks {
            $0.files2?["readme.txt"] = CodeResources.Entry(resource: .file(sha1: nil, sha256: other))
        }
        #expect(broken == ["changed readme.txt"])
        let old = Array((HashFunction.sha1.digest(of: Array("read me\n".utf8)) + [1, 2]).prefix(min(length, 21)))
        #expect(
            try breaks { $0.files2?["readme.txt"] = CodeResources.Entry(resource: .file(sha1: old, sha256: nil)) }
                == ["changed readme.txt"])
    }

    @Test func `of two digests the better one counts`() throws {
        let content = Array("read me\n".utf8)
        let (sha1, sha256) = (HashFunction.sha1.digest(of: content), HashFunction.sha256.digest(of: content))
        func entry(_ one: [UInt8]?, _ two: [UInt8]?) -> CodeResources.Entry {
            CodeResources.Entry(resource: .file(sha1: one, sha256: two))
        }
        #expect(try breaks { $0.files2?["readme.txt"] = entry(sha1, sha256) } == [])
        #expect(try breaks { $0.files2?["readme.txt"] = entry(sha1, nil) } == [])
        #expect(try breaks { $0.files2?["readme.txt"] = entry(sha1, []) } == ["changed readme.txt"])
        #expect(try breaks { $0.files2?["readme.txt"] = entry([], sha256) } == [])
    }

    @Test func `a resource that is of another kind than its entry breaks a seal`() throws {
        let file = CodeResources.Entry(
            resource: .file(sha1: nil, sha256: HashFunction.sha256.digest(of: Array("read me\n".utf8))))
        #expect(try breaks { $0.files2?["link"] = file } == ["changed link"])
        let link = CodeResources.Entry(resource: .symbolicLink(target: "readme.txt"))
        #expect(try breaks { $0.files2?["readme.txt"] = link } == ["changed readme.txt"])
        let code = CodeResources.Entry(resource: .nested(codeDirectoryHash: [1], requirement: nil))
        #expect(try breaks { $0.files2?["readme.txt"] = code } == ["changed readme.txt", "missing readme.txt"])
        #expect(
            try breaks { $0.files2?["Assets/deep"] = code }.contains("missing Assets/deep/_CodeSignature/CodeDirectory")
        )
        #expect(try breaks { $0.files2?["nothing"] = code } == ["missing nothing"])
        #expect(try breaks { $0.files2?["nothing"] = file } == ["missing nothing"])
        #expect(try breaks { $0.files2?["../Notes.app/readme.txt"] = file } == ["missing ../Notes.app/readme.txt"])
    }

    @Test func `an optional file may be missing, and not be another`() throws {
        let app = try SampleApp.whole().seal()
        try app.resign { $0.files2?["readme.txt"]?.isOptional = true }
        #expect(try app.breaks() == [])
        try app.flip("readme.txt", at: 0)
        #expect(try app.breaks() == ["changed readme.txt"])
        try app.remove("readme.txt")
        #expect(try app.breaks() == [])
    }

    // MARK: Omitted files

    @Test func `a seal that leaves everything out is valid with a warning`() throws {
        let app = try SampleApp.whole().seal()
        try app.resign { resources in
            resources.files2 = [:]
            resources.rules2 = [ResourceRule(pattern: "^.*", isOmitted: true)]
        }
        let report = try app.report()
        #expect(report.isValid)
        #expect(report.warnings == ["the seal leaves out what matches ^.*"])
        try app.flip("Notes", at: 0)
        #expect(try app.breaks() == ["changed Notes"])
    }

    @Test(arguments: [nil, [], [ResourceRule(pattern: "^readme"), ResourceRule(pattern: "^Extras/")]])
    func `a signer whose rules match little is warned of`(rules: [ResourceRule]?) throws {
        let app = try SampleApp.whole().seal()
        try app.resign { resources in
            resources.files2 = resources.files2?.filter { $0.key == "readme.txt" || $0.key.hasPrefix("Extras/") }
            resources.rules2 = rules
        }
        let report = try app.report()
        #expect(report.isValid)
        #expect(report.warnings == ["the seal leaves out what none of its rules match"])
        // A file that is listed nevertheless is verified.
        try app.flip("readme.txt", at: 0)
        #expect(try app.breaks() == ["changed readme.txt"])
    }

    @Test func `a listed file is verified, even if a rule leaves it out`() throws {
        let app = try SampleApp.whole().seal()
        try app.resign { $0.rules2?.append(ResourceRule(pattern: "^readme", weight: 5000, isOmitted: true)) }
        #expect(try app.report().warnings == ["the seal leaves out what matches ^readme"])
        try app.flip("readme.txt", at: 0)
        #expect(try app.breaks() == ["changed readme.txt"])
        try app.remove("readme.txt")
        #expect(try app.breaks() == ["missing readme.txt"])
    }

    @Test func `a rule that cannot be used breaks the seal`() throws {
        for pattern in ["(", "a{9}{9}{9}", String(repeating: "a", count: 1000)] {
            #expect(
                try breaks { $0.rules2?.append(ResourceRule(pattern: pattern)) } == [
                    "changed \(SealLayout.resourcesPath)"
                ])
        }
    }

    @Test func `the first version counts where there is no second`() throws {
        let app = try SampleApp.whole()
        for name in ["Frameworks", "PlugIns", "Extras", "link", "Assets/up", "PkgInfo"] { try app.remove(name) }
        try app.seal()
        try app.resign { resources in
            resources.files2 = nil
            resources.rules2 = nil
            // Version 1 of old bundles does not omit it.
            resources.files["Info.plist"] = nil
            resources.rules.append(ResourceRule(pattern: #"^Info\.plist$"#, weight: 20, isOmitted: true))
        }
        #expect(try app.breaks() == [])
        try app.flip("readme.txt", at: 0)
        try app.write(".DS_Store", "")
        #expect(try app.breaks() == ["added .DS_Store", "changed readme.txt"])
    }

    // MARK: Names of nested code

    @Test(arguments: [
        "/Frameworks/Kit.framework", "Frameworks//Kit.framework", "Frameworks/Kit.framework/",
        "./Frameworks/Kit.framework",
        "Frameworks/../Frameworks/Kit.framework", "", "/", ".", "Frameworks/Kit.framework/.",
    ])
    func `code has one path`(path: String) throws {
        let app = try SampleApp.whole().seal()
        try app.resign { resources in
            let code = resources.files2?[kit]
            resources.files2?[path] = code
        }
        #expect(try app.breaks() == ["changed \(SealLayout.resourcesPath)"])
    }

    @Test func `code inside code is for the code around it to name`() throws {
        let app = try SampleApp.whole()
        let inner = "\(kit)/Frameworks/Inner.framework"
        try app.write("\(inner)/Info.plist", SampleApp.information("com.example.Inner", executable: "Inner"))
        try app.write("\(inner)/Inner", "code")
        try app.seal()
        #expect(try app.breaks() == [])
        try app.flip("\(inner)/Inner", at: 0)
        #expect(try app.breaks() == ["changed \(inner)/Inner"])
        try app.flip("\(inner)/Inner", at: 0)
        // Otherwise each level would double the work.
        try app.resign { resources in
            let code = resources.files2?[kit]
            resources.files2?[inner] = code
        }
        #expect(try app.breaks() == ["changed \(SealLayout.resourcesPath)"])
    }

    @Test func `code lies in code only so deep`() throws {
        let app = try SampleApp()
        func fill(_ levels: Int) throws {
            var place = ""
            for level in 0..<levels {
                try app.write("\(place)Info.plist", SampleApp.information("a.b\(level)", executable: nil))
                place += "Frameworks/A.framework/"
            }
        }
        try fill(16)
        #expect(try app.seal().breaks() == [])
        try fill(17)
        #expect(throws: Complaint.self) { try app.seal() }
    }

    // MARK: Names of the executable

    @Test func `another normalization of the executable's name is another file`() throws {
        let (composed, decomposed) = ("Caf\u{E9}", "Cafe\u{301}")
        for name in [composed, decomposed] {
            let app = try SampleApp()
            try app.write("Info.plist", SampleApp.information("a.b", executable: name))
            try app.root.descriptor.open(FileName(name)!, flags: O_WRONLY | O_CREAT, mode: 0o755).append([1, 2, 3])
            try app.seal()
            #expect(try app.breaks() == [])
            let other = FileName(name.utf8.count == composed.utf8.count ? decomposed : composed)!
            try app.root.descriptor.open(other, flags: O_WRONLY | O_CREAT, mode: 0o755).append([4])
            #expect(try app.breaks() == ["added \(other.text)"])
            // It is not the executable either.
            try app.root.descriptor.removeFile(FileName(name)!)
            #expect(try app.breaks().isEmpty == false)
            #expect(try app.seal().breaks() == [])
            try app.root.descriptor.open(other, flags: O_WRONLY | O_TRUNC).append([5])
            #expect(try app.breaks() == ["changed \(other.text)"])
        }
    }
}
