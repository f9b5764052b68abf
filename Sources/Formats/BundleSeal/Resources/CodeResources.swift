// `_CodeSignature/CodeResources`: what a bundle consists of, apart from its Info.plist and its main executable.

/// What the seal says of one path.
enum SealedResource: Equatable, Sendable {
    /// A file's content. Each digest may be missing, not both.
    case file(sha1: [UInt8]?, sha256: [UInt8]?)
    case symbolicLink(target: String)
    /// Code that is signed by itself: the hash of its code directory, and who may have signed it.
    case nested(codeDirectoryHash: [UInt8], requirement: String?)
}

/// The property list of sealed resources. Paths are relative to the bundle.
///
/// Names that differ in their Unicode normalization only are one name here, as they are on a device's APFS.
struct CodeResources: Equatable, Sendable {
    struct Entry: Equatable, Sendable {
        var resource: SealedResource
        /// It may be missing.
        var isOptional = false
    }

    /// Version 1, with SHA-1: files only.
    var files: [String: Entry] = [:]
    /// Version 2; nil where only the first is there.
    var files2: [String: Entry]?
    var rules: [ResourceRule] = []
    var rules2: [ResourceRule]?

    /// The entries that count: those of the newest version.
    var sealed: [String: Entry] { files2 ?? files }
    /// The rules that belong to them.
    var sealedRules: [ResourceRule] { files2 == nil ? rules : rules2 ?? [] }
}
