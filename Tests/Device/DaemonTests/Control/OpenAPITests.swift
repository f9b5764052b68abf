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

    /// The name of the schema that the body of a POST has.
    func bodySchema(at path: String) -> String? {
        let body = ["paths", ControlPath.root + path, "post", "requestBody", "content", "application/json"]
        return keys(below: body)["schema"]?.firstMatch(of: /#\/components\/schemas\/(\w+)/).map { String($0.1) }
    }

    /// A value as JSON for each key that an object of the schema must have.
    func samplesOfRequired(in schema: String) throws -> [String: String] {
        let path = ["components", "schemas", schema]
        let names = (keys(below: path)["required"] ?? "").matches(of: /\w+/).map { String($0.0) }
        let properties = keys(below: path + ["properties"])
        return try Dictionary(uniqueKeysWithValues: names.map { ($0, try sample(of: properties[$0] ?? "")) })
    }

    private func sample(of property: String) throws -> String {
        if let first = property.firstMatch(of: /enum: \[(\w+)/) { return "\"\(first.1)\"" }
        let type = try #require(property.firstMatch(of: /type: (\w+)/), "\(property)")
        return try #require(
            ["string": "\"\"", "integer": "0", "boolean": "false", "array": "[]"][type.1], "\(property)")
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
            #expect(["[Device]", "[App]", "[Mount]"].contains(operation["tags"]), "\(path)")
            let name = path.split(whereSeparator: { "-/".contains($0) }).enumerated()
                .map { $0.offset == 0 ? String($0.element) : $0.element.capitalized }.joined()
            let following = [ControlPath.followedEvents: "followEvents", ControlPath.followedChanges: "followChanges"]
            #expect(operation["operationId"] == following[path] ?? name)
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

    @Test func `it has the keys of every request, and which of them must be there`() throws {
        var schemas: Set<String> = []
        for route in ControlResponder<DeviceService>.routes(shutdown: {}) where !route.isQuery {
            let request = try #require(route.request, "\(route.path)")
            let name = try #require(document.bodySchema(at: route.path), "\(route.path)")
            let keys = document.keys(below: ["components", "schemas", name, "properties"])
            let samples = try document.samplesOfRequired(in: name)
            let value = try decode(request, samples)
            #expect(Set(keys.keys) == Set(Mirror(reflecting: value).children.compactMap(\.label)), "\(name)")
            for key in samples.keys {
                #expect(throws: DecodingError.self, "\(name) without \(key)") {
                    try decode(request, samples.filter { $0.key != key })
                }
            }
            schemas.insert(name)
        }
        let named = document.keys(below: ["components", "schemas"]).keys.filter { $0.hasSuffix("Request") }
        #expect(Set(named) == schemas.subtracting(["Nothing"]))
    }

    @Test func `it has the keys of events and of orders`() {
        let others: [(String, Any)] = [
            ("Event", Event(.locked)), ("DeviceOrder", DeviceOrder(device: "")),
            ("DeviceSettings", DeviceOrder.Settings()), ("StartReport", StartReport()),
        ]
        for (name, value) in others {
            let keys = document.keys(below: ["components", "schemas", name, "properties"])
            #expect(Set(keys.keys) == Set(Mirror(reflecting: value).children.compactMap(\.label)), "\(name)")
        }
    }

    /// - Parameter values: key → JSON.
    @discardableResult private func decode(
        _ request: any ControlRequest.Type, _ values: [String: String]
    ) throws -> any ControlRequest {
        let object = "{" + values.map { "\"\($0.key)\": \($0.value)" }.joined(separator: ", ") + "}"
        return try JSONDecoder().decode(request, from: Data(object.utf8))
    }
}
