// The options of a volume, as `podman volume create --opt` and their like give them.

import BackingStore
import Platform
public import SandboxModel

/// The content of a volume, by the options that it was made with.
public struct VolumeOptions: Hashable, Sendable {
    /// The device that the volume belongs to.
    public enum Source: Hashable, Sendable {
        /// One of its own, made from this template.
        case template(FileName)
        /// One of its own, made from this snapshot.
        case snapshot(VolumeName)
        /// One of its own, made from another volume's.
        case copy(VolumeName)
        /// That of another volume: another app of it.
        case beside(VolumeName)
        /// That of another volume: its control socket.
        case control(VolumeName)
    }

    public let source: Source
    /// nil for the only app of the device.
    public let app: ContainerIdentifier?
    /// The file with the passcode, in the directory of secrets; nil where the device is not to be unlocked.
    public let passcodeSecret: FileName?
    /// Bytes; nil for that of the template.
    public let capacity: Int64?
    /// Whether the app counts as running while it is mounted.
    public let isRunning: Bool
    public let isReadOnly: Bool
    /// The user of the containers, or of the control socket; nil for the template's.
    public let user: UInt32?

    /// The words of the options.
    private enum Word: String, CaseIterable {
        case template, snapshot, app, capacity, running, beside, uid
        case copyOf = "copy-of"
        case passcodeSecret = "passcode-secret"
        case readOnly = "read-only"
        case controlOf = "control-of"
    }

    /// - Parameter options: by their words.
    /// - Throws: ``Complaint`` of kind `badRequest` or `invalidIdentifier`.
    public init(_ options: [String: String]) throws(Complaint) {
        for word in options.keys.sorted() where Word(rawValue: word) == nil {
            let words = Word.allCases.map(\.rawValue).sorted().joined(separator: ", ")
            throw Complaint(.badRequest, "there is no option \(word.utf8.shown) of a volume; there are \(words)")
        }
        func value(_ word: Word) -> String? { options[word.rawValue] }
        source = try VolumeOptions.source(value)
        try VolumeOptions.refuse(Set(options.keys.compactMap { Word(rawValue: $0) }), for: source)
        app = try value(.app).map { (text) throws(Complaint) in
            guard let app = ContainerIdentifier(text) else {
                throw Complaint(.invalidIdentifier, "\(text.utf8.shown) is no bundle identifier")
            }
            return app
        }
        passcodeSecret = try value(.passcodeSecret).map { (name) throws(Complaint) in
            try VolumeOptions.fileName(name, of: .passcodeSecret)
        }
        capacity = try value(.capacity).map { (text) throws(Complaint) in
            guard let bytes = ByteSize(text)?.bytes else {
                throw Complaint(
                    .badRequest, "\(text.utf8.shown) is no capacity; give bytes, or a number and K, M, G or T")
            }
            return bytes
        }
        isRunning = try VolumeOptions.isSet(value(.running), .running)
        isReadOnly = try VolumeOptions.isSet(value(.readOnly), .readOnly)
        user = try value(.uid).map { (text) throws(Complaint) in
            guard let user = UInt32(text), user != .max, text.utf8.first != UInt8(ascii: "+") else {
                throw Complaint(.badRequest, "\(text.utf8.shown) is no user's number, which uid has to be")
            }
            return user
        }
        if case .control = source, user == nil {
            throw Complaint(.badRequest, "control-of needs the option uid: the user that the socket is for")
        }
    }

    private static func source(_ value: (Word) -> String?) throws(Complaint) -> Source {
        let sources: [Word] = [.template, .snapshot, .copyOf, .beside, .controlOf]
        let given = sources.filter { value($0) != nil }
        guard given.count == 1, let word = given.first, let text = value(word) else {
            throw Complaint(
                .badRequest,
                "a volume has one of the options template, snapshot, copy-of, beside and control-of; give one of them")
        }
        switch word {
        case .template: return .template(try fileName(text, of: .template))
        case .snapshot: return .snapshot(try VolumeName(text))
        case .copyOf: return .copy(try VolumeName(text))
        case .beside: return .beside(try VolumeName(text))
        default: return .control(try VolumeName(text))
        }
    }

    /// Refuses options that have no meaning beside the source.
    private static func refuse(_ given: Set<Word>, for source: Source) throws(Complaint) {
        let (meaningless, word): ([Word], Word) =
            switch source {
            case .template, .snapshot, .copy: ([], .template)
            case .beside: ([.capacity, .uid], .beside)
            case .control: ([.app, .capacity, .passcodeSecret, .readOnly, .running], .controlOf)
            }
        guard let first = meaningless.first(where: given.contains) else { return }
        throw Complaint(.badRequest, "the option \(first.rawValue) does not go with \(word.rawValue)")
    }

    private static func fileName(_ text: String, of word: Word) throws(Complaint) -> FileName {
        guard let name = FileName(text) else {
            throw Complaint(.badRequest, "\(text.utf8.shown) is no name of a file, which \(word.rawValue) has to be")
        }
        return name
    }

    private static func isSet(_ text: String?, _ word: Word) throws(Complaint) -> Bool {
        switch text {
        case "", "true", "yes", "on": return true
        case nil, "false", "no", "off": return false
        case .some(let text):
            throw Complaint(
                .badRequest, "\(text.utf8.shown) is neither true nor false, which \(word.rawValue) has to be")
        }
    }
}
