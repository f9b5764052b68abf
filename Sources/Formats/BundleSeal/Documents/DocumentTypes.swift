// The documents that an app accepts: CFBundleDocumentTypes of its Info.plist, with the types that it declares.

import Glibc
public import Platform
import PropertyLists
import SandboxModel

/// The types of documents that an app's Info.plist declares (Apple, CFBundleDocumentTypes and
/// UTExportedTypeDeclarations).
public struct DocumentTypes: Sendable {
    /// Whether it has CFBundleDocumentTypes at all. An app without it says nothing of what it accepts.
    public let isDeclared: Bool
    /// LSItemContentTypes of all documents, in small letters.
    private let contentTypes: Set<String>
    /// CFBundleTypeExtensions of documents without content types, in small letters; `*` stands for all.
    private let extensions: Set<String>
    private let declarations: TypeDeclarations
    /// Whether it declares more types than are followed, or longer ones. No name has a type then.
    public let isExcessive: Bool

    /// The limit of each kind of declaration, many times that of real apps.
    public static let most = 4096
    /// The limit of an identifier or an extension, in bytes.
    private static let longest = 1024

    private static let information: FileName = "Info.plist"

    /// Reads the Info.plist of a bundle.
    /// - Returns: nil where it cannot be read; such a bundle declares nothing, and cannot be run.
    public init?(of bundle: borrowing Descriptor) {
        guard let file = try? bundle.open(DocumentTypes.information, flags: O_RDONLY | O_NONBLOCK),
            (try? file.status().kind) == .file, let bytes = try? file.readToEnd()
        else { return nil }
        self.init(decoding: bytes)
    }

    /// - Parameter bytes: a property list, as XML or binary.
    /// - Returns: nil if it is none.
    public init?(decoding bytes: [UInt8]) {
        guard let list = try? PropertyListCoding.decode(DeclaredTypes.self, from: bytes) else { return nil }
        isDeclared = list.hasDocuments
        isExcessive = !list.isModest(most: DocumentTypes.most, longest: DocumentTypes.longest)
        guard !isExcessive else {
            self.contentTypes = []
            self.extensions = []
            declarations = TypeDeclarations(CommonTypes.declarations)
            return
        }
        var contentTypes: Set<String> = []
        var extensions: Set<String> = []
        for document in list.documents where document.isAccepted {
            contentTypes.formUnion(document.contentTypes.map { $0.lowercased() })
            // Apple: where there are content types, the other keys are ignored.
            if document.contentTypes.isEmpty { extensions.formUnion(document.extensions.map { $0.lowercased() }) }
        }
        self.contentTypes = contentTypes
        self.extensions = extensions
        declarations = TypeDeclarations(CommonTypes.declarations + list.declarations)
    }

    /// Whether the app accepts a file or directory of this name.
    public func accept(_ name: String, isDirectory: Bool) -> Bool {
        let tail = DocumentTypes.nameExtension(name)
        if extensions.contains("*") || tail.map(extensions.contains) ?? false { return true }
        return !declarations.types(ofExtension: tail, isDirectory: isDirectory).isDisjoint(with: contentTypes)
    }

    /// The types that a file or directory of this name has, for people: the most special ones.
    public func names(of name: String, isDirectory: Bool) -> [String] {
        declarations.specialTypes(ofExtension: DocumentTypes.nameExtension(name), isDirectory: isDirectory)
    }

    /// The extension in small letters; nil for a name without one. A leading dot begins a hidden name.
    private static func nameExtension(_ name: String) -> String? {
        guard let dot = name.lastIndex(of: "."), dot > name.startIndex else { return nil }
        let tail = name[name.index(after: dot)...]
        return tail.isEmpty ? nil : tail.lowercased()
    }
}

/// The keys as they are decoded. A value of the wrong type counts as absent.
private struct DeclaredTypes: Decodable {
    struct Document: Decodable {
        let contentTypes, extensions: [String]
        /// Whether the app opens such documents, and does not only give them an icon.
        let isAccepted: Bool

        private enum Key: String, CodingKey {
            case contentTypes = "LSItemContentTypes"
            case extensions = "CFBundleTypeExtensions"
            case rank = "LSHandlerRank"
            case role = "CFBundleTypeRole"
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Key.self)
            contentTypes = (try? container.decode([String].self, forKey: .contentTypes)) ?? []
            extensions = (try? container.decode([String].self, forKey: .extensions)) ?? []
            let words = [Key.rank, .role].map { try? container.decode(String.self, forKey: $0) }
            isAccepted = !words.contains("None")
        }
    }

    /// An entry of UTExportedTypeDeclarations or UTImportedTypeDeclarations.
    private struct Declaration: Decodable {
        let declaration: TypeDeclarations.Declaration?

        private enum Key: String, CodingKey {
            case identifier = "UTTypeIdentifier"
            case conformsTo = "UTTypeConformsTo"
            case tags = "UTTypeTagSpecification"
        }

        private enum Tag: String, CodingKey {
            case nameExtension = "public.filename-extension"
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Key.self)
            guard let identifier = try? container.decode(String.self, forKey: .identifier) else {
                declaration = nil
                return
            }
            let tags = try? container.nestedContainer(keyedBy: Tag.self, forKey: .tags)
            declaration = TypeDeclarations.Declaration(
                identifier: identifier, conformsTo: Self.texts(container, .conformsTo),
                extensions: tags.map { Self.texts($0, .nameExtension) } ?? [])
        }

        /// A text, or a list of texts.
        private static func texts<Key>(_ container: KeyedDecodingContainer<Key>, _ key: Key) -> [String] {
            if let text = try? container.decode(String.self, forKey: key) { return [text] }
            return (try? container.decode([String].self, forKey: key)) ?? []
        }
    }

    private enum Key: String, CodingKey {
        case documents = "CFBundleDocumentTypes"
        case exported = "UTExportedTypeDeclarations"
        case imported = "UTImportedTypeDeclarations"
    }

    let hasDocuments: Bool
    let documents: [Document]
    let declarations: [TypeDeclarations.Declaration]

    /// Whether no kind of declaration has more entries, and no text more bytes.
    func isModest(most: Int, longest: Int) -> Bool {
        var texts = [documents.flatMap(\.contentTypes), documents.flatMap(\.extensions)]
        texts += [declarations.map(\.identifier)]
        texts += [declarations.flatMap(\.conformsTo), declarations.flatMap(\.extensions)]
        return documents.count <= most
            && texts.allSatisfy { $0.count <= most && $0.allSatisfy { $0.utf8.count <= longest } }
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        hasDocuments = container.contains(.documents)
        documents = (try? container.decode([Document].self, forKey: .documents)) ?? []
        declarations = [Key.exported, .imported].flatMap { key in
            ((try? container.decode([Declaration].self, forKey: key)) ?? []).compactMap(\.declaration)
        }
    }
}
