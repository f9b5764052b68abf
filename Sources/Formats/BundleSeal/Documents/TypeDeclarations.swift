// Uniform type identifiers: which extension has which type, and which type conforms to which.

/// A set of declared types.
struct TypeDeclarations: Sendable {
    struct Declaration: Sendable {
        let identifier: String
        let conformsTo: [String]
        /// Of file names, without a dot.
        let extensions: [String]
    }

    /// By type, the types that it conforms to. All identifiers and extensions are in small letters, as Apple compares them.
    private var above: [String: Set<String>] = [:]
    private var types: [String: Set<String>] = [:]

    init(_ declarations: [Declaration]) {
        for declaration in declarations {
            let identifier = declaration.identifier.lowercased()
            above[identifier, default: []].formUnion(declaration.conformsTo.map { $0.lowercased() })
            for tail in declaration.extensions { types[tail.lowercased(), default: []].insert(identifier) }
        }
    }

    /// Every type that a file or directory has: those of its extension, all that they conform to, and what it is at least.
    /// - Parameter tail: the extension in small letters; nil for none.
    func types(ofExtension tail: String?, isDirectory: Bool) -> Set<String> {
        var found: Set<String> = isDirectory ? ["public.directory", "public.item"] : ["public.data", "public.item"]
        let special = specialTypes(ofExtension: tail, isDirectory: isDirectory)
        for type in special { found.formUnion(closure(of: type)) }
        return found
    }

    /// The types of an extension, sorted. A directory with the extension of a file is a folder like any other; a file with
    /// that of a package is mere data.
    func specialTypes(ofExtension tail: String?, isDirectory: Bool) -> [String] {
        let known = tail.flatMap { types[$0] } ?? []
        let fitting = known.filter { closure(of: $0).contains("public.directory") == isDirectory }
        return fitting.isEmpty ? [isDirectory ? "public.folder" : "public.data"] : fitting.sorted()
    }

    /// A type and all that it conforms to. A type that conforms to itself, by whatever way, ends the walk there.
    private func closure(of type: String) -> Set<String> {
        var found: Set<String> = [type]
        var left = [type]
        while let next = left.popLast() {
            for type in above[next] ?? [] where found.insert(type).inserted { left.append(type) }
        }
        return found
    }
}
