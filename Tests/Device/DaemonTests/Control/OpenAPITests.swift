// The document of the control API names every call, every key of a request and every kind of complaint that there is.
// That its examples do what it says is tried on a real device, in Tests/Mounted.

import AppContainer
import Foundation
import SandboxModel
import TestSupport
import Testing

@testable import Daemon

/// The document, as far as lines tell: it is written with one key a line and two blanks a level.
private struct OpenAPIDocument {
    private let lines: [Substring]

    init() throws {
        lines = try String(contentsOf: Checkout.root.appending(path: "docs/openapi.yaml"), encoding: .utf8)
            .split(separator: "\n", omittingEmptySubsequences: false)
    }

    /// The keys below a path of keys, with what stands behind each.
    func keys(below path: [String]) -> [String: String] {
        var rest = lines[...]
        for (level, key) in path.enumerated() {
            let start = String(repeating: " ", count: level * 2) + key + ":"
            guard let index = rest.firstIndex(where: { $0.hasPrefix(start) }) else { return [:] }
            rest = rest[(index + 1)...].prefix {
                $0.isEmpty || $0.hasPrefix(String(repeating: " ", count: level * 2 + 2))
            }
        }
        var keys: [String: String] = [:]
        let indent = String(repeating: " ", count: path.count * 2)
        for line in rest where line.hasPrefix(indent) && line.dropFirst(indent.count).first?.isWhitespace == false {
            let parts = line.dropFirst(indent.count).split(separator: ":", maxSplits: 1)
            guard let key = parts.first, line.contains(":"), !key.hasPrefix("#") else { continue }
            keys[String(key)] = parts.count > 1 ? parts[1].trimmingCharacters(in: .whitespaces) : ""
        }
        return keys
    }
}

@Suite struct OpenAPITests {
    private let document: OpenAPIDocument

    init() throws {
        document = try OpenAPIDocument()
    }

    @Test func `it has the calls that there are, each with its method and an example`() {
        let routes = ControlResponder<DeviceService>.routes {}
        let paths = document.keys(below: ["paths"]).keys
        #expect(Set(paths) == Set(routes.map { ControlPath.root + $0.path }))
        for route in routes {
            let path = route.path
            let place = ["paths", ControlPath.root + path]
            let method = route.isQuery ? "get" : "post"
            #expect(document.keys(below: place).keys.sorted() == [method], "\(path)")
            let operation = document.keys(below: place + [method])
            #expect(operation["x-example"] == "|" && operation["summary"] != nil, "\(path)")
            #expect(operation.keys.contains("requestBody") == !route.isQuery, "\(path)")
        }
    }

    @Test func `it has the kinds of complaints that there are, with status and exit code`() {
        let kinds = document.keys(below: ["x-kinds"])
        #expect(Set(kinds.keys) == Set(Complaint.Kind.allCases.map(\.rawValue)))
        for kind in Complaint.Kind.allCases {
            #expect(kinds[kind.rawValue] == "{status: \(kind.status), exitCode: \(kind.exitCode)}", "\(kind)")
        }
    }

    @Test func `each kind of complaint has a constant in the library`() throws {
        let source = try String(
            contentsOf: Checkout.root.appending(path: "Sources/Client/AppContainer/Device/DeviceError+Kind.swift"),
            encoding: .utf8)
        for kind in Complaint.Kind.allCases {
            #expect(source.contains("public static let \(kind) = Kind(.\(kind))"), "\(kind)")
            #expect(DeviceError.Kind(kind).known == kind && Complaint(DeviceError(Complaint(kind, ""))).kind == kind)
        }
        #expect(Complaint(DeviceError(DeviceError.Kind(rawValue: "ofANewerDevice"), "")).kind == .unexpected)
    }

    @Test func `it has the keys of every request, of events and of orders`() {
        let requests: [(String, Any)] = [
            ("UnlockRequest", UnlockRequest(passcode: "")), ("LockRequest", LockRequest()),
            ("PasscodeRequest", PasscodeRequest(.set)), ("InstallRequest", InstallRequest(app: "")),
            ("EntitleRequest", EntitleRequest(app: "")), ("DeliverRequest", DeliverRequest(app: "", files: [])),
            ("MountRequest", MountRequest(app: "", mountPoint: "")), ("UnmountRequest", UnmountRequest(mountPoint: "")),
            ("MountEndRequest", MountEndRequest(mountPoint: "")), ("InspectRequest", InspectRequest(app: "", path: "")),
            ("CheckRequest", CheckRequest()), ("CapacityRequest", CapacityRequest()), ("PurgeRequest", PurgeRequest()),
            ("RunRequest", RunRequest(app: "")), ("RunProcessRequest", RunProcessRequest(lease: 0, pid: 0)),
            ("RunEndRequest", RunEndRequest(app: "", lease: 0)), ("AppRequest", UninstallRequest(app: "")),
            ("AppRequest", ResetRequest(app: "")), ("AppRequest", MarkRunningRequest(app: "")),
            ("AppRequest", TerminateRequest(app: "")), ("BackupRequest", BackupRequest(output: "")),
            ("BackupListRequest", BackupListRequest()), ("RestoreRequest", RestoreRequest(input: "")),
            ("AuditRequest", AuditRequest(app: "")), ("SurveyRequest", SurveyRequest(app: "")),
            ("Event", Event(.locked)), ("DeviceOrder", DeviceOrder(device: "")),
            ("DeviceSettings", DeviceOrder.Settings()), ("StartReport", StartReport()),
        ]
        for (name, value) in requests {
            let keys = document.keys(below: ["components", "schemas", name, "properties"])
            #expect(Set(keys.keys) == Set(Mirror(reflecting: value).children.compactMap(\.label)), "\(name)")
        }
        // A new request has to be compared here as well.
        let named = document.keys(below: ["components", "schemas"]).keys.filter { $0.hasSuffix("Request") }
        #expect(Set(named) == Set(requests.map(\.0).filter { $0.hasSuffix("Request") }))
    }
}
