// The places of the store's code that synchronize: as calls of a workload came to them, and as its sources have them.

import CHostFaults
import Foundation
import Synchronization
import TestSupport

/// One place at which the store synchronizes something, with the places that call it where it has no meaning of its
/// own.
struct SyncSite: Hashable, CustomStringConvertible {
    /// A call in a function, by the address to which it returns.
    struct Call: Hashable {
        let function: String
        let address: UInt
    }

    /// From the inside out. All but the last are in functions named `synchronize…`.
    let calls: [Call]

    var description: String {
        calls.map { "\($0.function)+\(String($0.address % 0x10000, radix: 16))" }.joined(separator: " < ")
    }

    static let modules = ["BackingStore", "ContainerVolume", "DeviceLifecycle", "Purging"]

    init(_ entry: trace_entry) {
        var calls: [Call] = []
        for index in 0..<(unsafe entry.caller_count) {
            let address = unsafe UInt(bitPattern: entry.callers[index])
            guard let function = SyncSite.function(at: address), function != calls.last?.function
            else { continue }
            calls.append(Call(function: function, address: address))
            if !function.contains(".synchronize") { break }
        }
        self.calls = calls
    }

    private static let known = Mutex<[UInt: String?]>([:])

    /// `Module.function` of the store for an address in it; nil elsewhere, and for a function that runs what it is
    /// given.
    private static func function(at address: UInt) -> String? {
        known.withLock { known in
            if let function = known[address] { return function }
            let function = unsafe trace_function(UnsafeRawPointer(bitPattern: address)).flatMap { name in
                defer { unsafe free(name) }
                return unsafe parsed(String(cString: name))
            }
            known[address] = .some(function)
            return function
        }
    }

    /// `closure #1 () throws -> () in (extension in Store):Base.(run in _0AF)(to: Int) -> ()` is `Store.run`.
    private static func parsed(_ demangled: String) -> String? {
        var text = demangled.replacing(/\((\w+) in _[0-9A-F]+\)/) { $0.1 }
        if let range = text.ranges(of: #/[#]\d+ .*? in /#).last { text = String(text[range.upperBound...]) }
        let extended = text.firstMatch(of: /\(extension in (\w+)\):/)
        if let extended { text.removeSubrange(extended.range) }
        text.trimPrefix("static ")
        guard let path = text.prefixMatch(of: /[\w.]+/) else { return nil }
        let names = path.output.split(separator: ".")
        let module = extended.map { String($0.1) } ?? String(names.first ?? "")
        guard modules.contains(module), let function = names.last, function != "onHost" else { return nil }
        return "\(module).\(function)"
    }

    /// The number of calls that synchronize in each function of the store, by its sources.
    static func inSources() throws -> [String: Int] {
        var counts: [String: Int] = [:]
        for (module, folder) in [
            ("BackingStore", "FileSystem"), ("ContainerVolume", "FileSystem"), ("DeviceLifecycle", "Device"),
        ] {
            let top = Checkout.root.appending(path: "Sources/\(folder)/\(module)").path
            for path in try FileManager.default.subpathsOfDirectory(atPath: top) where path.hasSuffix(".swift") {
                var function = ""
                for line in try String(contentsOfFile: "\(top)/\(path)", encoding: .utf8).split(separator: "\n")
                where line.contains("synchronize") || line.contains("func ") {
                    let code = line.split(separator: "//", omittingEmptySubsequences: false)[0]
                    if let declared = code.firstMatch(of: /\bfunc (\w+)/) {
                        function = String(declared.1)
                    } else if code.contains(/[ .]synchronize(Entries|Filesystem|Backing|Directory)?\(/) {
                        counts["\(module).\(function)", default: 0] += 1
                    }
                }
            }
        }
        return counts
    }
}
