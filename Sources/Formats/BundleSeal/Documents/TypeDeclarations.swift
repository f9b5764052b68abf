// Uniform type identifiers: which extension has which type, and which type conforms to which.

/// A set of declared types.
struct TypeDeclarations: Sendable {
    struct Declaration: Sendable {
        let identifier: String
        let conformsTo: [String]
        /// Of file names, without a dot.
        let extensions: [String]
    }

    /// By type, the types that it conforms to. All identifiers and extensions are in small letters, as Apple compares
    /// them.
    private var above: [String: Set<String>] = [:]
    private var types: [String: Set<String>] = [:]
    /// The types of directories: those that conform to `public.directory`.
    private var directories: Set<String> = []

    init(_ declarations: [Declaration]) {
        for declaration in declarations {
            let identifier = declaration.identifier.lowercased()
            above[identifier, default: []].formUnion(declaration.conformsTo.map { $0.lowercased() })
            for tail in declaration.extensions { types[tail.lowercased(), default: []].insert(identifier) }
        }
        var below: [String: [String]] = [:]
        for (identifier, types) in above {
            for type in types { below[type, default: []].append(identifier) }
        }
        directories = TypeDeclarations.reach(["public.directory"], by: below)
    }

    /// Every type that a file or directory has: those of its extension, all that they conform to, and what it is at
    /// least.
    /// - Parameter tail: the extension in small letters; nil for none.
    func types(ofExtension tail: String?, isDirectory: Bool) -> Set<String> {
        let least: Set<String> = isDirectory ? ["public.directory", "public.item"] : ["public.data", "public.item"]
        let special = specialTypes(ofExtension: tail, isDirectory: isDirectory)
        return least.union(TypeDeclarations.reach(special, by: above))
    }

    /// The types of an extension, sorted. A directory with the extension of a file is a folder like any other; a file
    /// with that of a package is mere data.
    func specialTypes(ofExtension tail: String?, isDirectory: Bool) -> [String] {
        let known = tail.flatMap { types[$0] } ?? []
        let fitting = known.filter { directories.contains($0) == isDirectory }
        return fitting.isEmpty ? [isDirectory ? "public.folder" : "public.data"] : fitting.sorted()
    }

    /// Types and all that they lead to, each visited once: a type that leads to itself, by whatever way, ends a walk
    /// there.
    private static func reach(_ types: [String], by ways: [String: some Sequence<String>]) -> Set<String> {
        var found = Set(types)
        var left = types
        while let next = left.popLast() {
            guard let further = ways[next] else { continue }
            for type in further where found.insert(type).inserted { left.append(type) }
        }
        return found
    }
}
