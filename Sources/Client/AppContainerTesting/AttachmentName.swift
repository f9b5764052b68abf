// The name of the file that a failed test's events become.

import Platform
import Synchronization
import Testing

/// `SUITE, TEST (ARGUMENTS).events.jsonl`: a name that tells the test and its arguments.
enum AttachmentName {
    /// Bytes of a name before its ending; a filesystem takes 255, and the test library may add some of its own.
    private static let longest = 200
    private static let ending = ".events.jsonl"
    /// The number of names so far whose test does not tell them apart.
    private static let number = Atomic(0)

    static func of(_ test: Test, _ testCase: Test.Case?) -> String {
        of(test.id.nameComponents, arguments: testCase.flatMap(arguments))
    }

    /// - Parameters:
    ///   - components: the names of suites from the outside in, and the function's with the labels of its parameters.
    ///   - arguments: as people read them; nil for a parameterized test whose arguments are not known.
    static func of(_ components: [String], arguments: [String]?) -> String {
        var names = components
        if let function = names.popLast() { names.append(plain(function)) }
        var name = names.joined(separator: ", ")
        switch arguments {
        case []?: break
        case let arguments?: name += " (\(arguments.joined(separator: ", ")))"
        case nil: name += " (\(next))"
        }
        name = HostPath.parts(of: name.replacingControls(by: "-")).joined(separator: "-")
        // The library takes what is before the first dot for the name, and a name that begins with one would be hidden.
        if name.hasPrefix(".") { name = "-" + name.dropFirst() }
        if name.utf8.count > longest {
            let mark = " … \(next)"
            while name.utf8.count + mark.utf8.count > longest { name.removeLast() }
            name += mark
        }
        return name + ending
    }

    private static var next: Int { number.add(1, ordering: .relaxed).newValue }

    /// A function's name without its parameters and the quotes of a name in words.
    private static func plain(_ function: String) -> String {
        if function.hasPrefix("`"), let end = function.lastIndex(of: "`"), end > function.startIndex {
            return String(function[function.index(after: function.startIndex)..<end])
        }
        return String(function.prefix { $0 != "(" })
    }

    /// The arguments of a case, which the library shows to nobody but by reflection.
    /// - Returns: none for a test without parameters; nil where reflection does not find them.
    private static func arguments(of testCase: Test.Case) -> [String]? {
        guard testCase.isParameterized else { return [] }
        guard let kind = child("_kind", of: testCase), let parameters = child("parameterized", of: kind),
            let list = child("arguments", of: parameters)
        else { return nil }
        let values = Mirror(reflecting: list).children.compactMap { child("value", of: $0.value) }
        return values.isEmpty ? nil : values.map { String(describingForTest: $0) }
    }

    private static func child(_ label: String, of value: Any) -> Any? {
        Mirror(reflecting: value).children.first { $0.label == label }?.value
    }
}
