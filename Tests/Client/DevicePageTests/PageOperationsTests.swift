// The part of the control API that a page may use, and the part that only looks.

import AppContainer
import Foundation
import Testing

@testable import DevicePage

@Suite("The operations of a page")
struct PageOperationsTests {
    private func onlyLooks(_ path: String, _ body: String = "{}") throws -> Bool {
        try #require(PageOperation.all[path], "\(path)").looking(Array(body.utf8)) != nil
    }

    @Test func `a request that only looks is passed on as it was read`() throws {
        for body in [#"{"dryRun": true, "dryRun": false}"#, #"{"dryRun": false, "dryRun": true}"#] {
            guard let passed = try #require(PageOperation.all["purge"]).looking(Array(body.utf8)) else { continue }
            let text = String(decoding: passed, as: UTF8.self)
            #expect(text.components(separatedBy: "dryRun").count == 2 && text.contains(#""dryRun":true"#), "\(text)")
        }
        let unknown = try #require(PageOperation.all["clock"]).looking(Array(#"{"real": false, "other": 1}"#.utf8))
        #expect(unknown.map { String(decoding: $0, as: UTF8.self) } == #"{"real":false}"#)
    }

    @Test(arguments: [
        "install", "uninstall", "reset", "run", "launch", "run-process", "mount", "unmount", "restore", "passcode",
        "backup-password", "shutdown", "deliver", "entitle", "backup-list", "", "status/", "../v1/shutdown",
    ])
    func `the page asks for nothing else`(path: String) {
        #expect(PageOperation.all[path] == nil)
    }

    @Test(arguments: ["lock", "restart", "unlock", "exclude", "include", "protect", "suspend", "resume", "terminate"])
    func `what changes something never only looks`(path: String) throws {
        #expect(try !onlyLooks(path))
        #expect(try !onlyLooks(path, #"{"app": "com.example.Notes", "path": "", "passcode": "1"}"#))
    }

    @Test(arguments: ["status", "apps", "events", "events/follow", "changes/follow", "rules", "activity"])
    func `queries only look`(path: String) throws {
        #expect(try onlyLooks(path, ""))
    }

    @Test func `a request that may change something only looks where it does not`() throws {
        #expect(try onlyLooks("clock"))
        #expect(try onlyLooks("clock", #"{"advance": null, "real": false}"#))
        #expect(try !onlyLooks("clock", #"{"advance": 1}"#))
        #expect(try !onlyLooks("clock", #"{"real": true}"#))
        #expect(try onlyLooks("purge", #"{"dryRun": true}"#))
        #expect(try !onlyLooks("purge"))
        #expect(try !onlyLooks("purge", #"{"dryRun": false}"#))
        #expect(try onlyLooks("check"))
        #expect(try !onlyLooks("check", #"{"repair": true}"#))
        #expect(try onlyLooks("conditions"))
        #expect(try !onlyLooks("conditions", #"{"power": false}"#))
        #expect(try onlyLooks("capacity"))
        #expect(try !onlyLooks("capacity", #"{"hostCapacity": true}"#))
        #expect(try !onlyLooks("schedule", #"{"ends": true}"#))
    }

    @Test(arguments: ["", "[]", "{", "null", #"{"dryRun": "true"}"#, #"{"dryRun": 1}"#])
    func `a body that cannot be read does not only look`(body: String) throws {
        #expect(try !onlyLooks("purge", body))
    }
}
