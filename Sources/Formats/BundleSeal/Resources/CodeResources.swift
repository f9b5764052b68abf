// `_CodeSignature/CodeResources`: the sealed resources of a bundle (Apple, TN2206). Info.plist and the main executable
// are sealed by the code directory instead.

/// The expected state of one path.
enum SealedResource: Equatable, Sendable {
    /// The digests of a file's content: one of them or both.
    case file(sha1: [UInt8]?, sha256: [UInt8]?)
    case symbolicLink(target: String)
    /// Nested code, which has a signature of its own: the hash of its code directory, and its designated requirement.
    case nested(codeDirectoryHash: [UInt8], requirement: String?)
}

/// The property list of sealed resources. Paths are relative to the bundle.
///
/// The keys are Swift strings: names that differ only in their Unicode normalization are one name, as on a device's
/// APFS.
struct CodeResources: Equatable, Sendable {
    /// A sealed path.
    struct Entry: Equatable, Sendable {
        var resource: SealedResource
        /// Whether the path may be missing.
        var isOptional = false
    }

    /// Version 1: files only, with SHA-1.
    var files: [String: Entry] = [:]
    /// Version 2; nil in a seal that has only version 1.
    var files2: [String: Entry]?
    var rules: [ResourceRule] = []
    var rules2: [ResourceRule]?

    /// The entries that are verified: those of the newest version.
    var sealed: [String: Entry] { files2 ?? files }
    /// The rules of the same version.
    var sealedRules: [ResourceRule] { files2 == nil ? rules : rules2 ?? [] }
}
