// The Info.plist of a bundle.

import Glibc
public import Platform
import PropertyLists
public import SandboxModel

/// The keys of Info.plist that a device needs (Apple, Information Property List).
public struct BundleInformation: Equatable, Sendable {
    /// CFBundleIdentifier.
    public let identifier: ContainerIdentifier
    /// CFBundleExecutable: the name of a file directly in the bundle.
    public let executable: FileName?
    /// CFBundleDisplayName, else CFBundleName, else the bundle's name without `.app`.
    public let displayName: String
    /// CFBundleShortVersionString; empty when there is none.
    public let version: String
    /// CFBundleVersion; empty when there is none.
    public let build: String
    /// UIFileSharingEnabled: whether `Documents` may be shown to a computer.
    public let sharesDocuments: Bool

    private static let fileName: FileName = "Info.plist"

    /// Reads the Info.plist of a bundle.
    /// - Parameter bundleName: the `.app` directory's name; it stands in for a missing display name, and in messages.
    /// - Throws: ``Complaint`` of kind `invalidApp`, or `invalidIdentifier` for an identifier that is not allowed.
    public init(of bundle: borrowing Descriptor, bundleName: FileName) throws(Complaint) {
        let bytes: [UInt8]
        do throws(SystemError) {
            // O_NONBLOCK: opening a fifo would wait for a writer.
            let file = try bundle.open(BundleInformation.fileName, flags: O_RDONLY | O_NONBLOCK)
            guard try file.status().kind == .file else { throw .invalid }
            bytes = try file.readToEnd()
        } catch {
            let reason = error == .noEntry ? "has no Info.plist" : "has an Info.plist that cannot be read"
            throw Complaint(.invalidApp, "\(bundleName.text) \(reason): it is not an app's bundle")
        }
        try self.init(decoding: bytes, bundleName: bundleName)
    }

    /// Decodes an Info.plist.
    /// - Parameter bytes: a property list, as XML or binary.
    /// - Throws: ``Complaint`` of kind `invalidApp` or `invalidIdentifier`.
    public init(decoding bytes: [UInt8], bundleName: FileName) throws(Complaint) {
        guard let list = try? PropertyListCoding.decode(InformationList.self, from: bytes) else {
            throw Complaint(.invalidApp, "\(bundleName.text) has an Info.plist that is not a property list of keys")
        }
        guard let text = list.identifier, !text.isEmpty else {
            throw Complaint(.invalidApp, "\(bundleName.text) has no CFBundleIdentifier in its Info.plist")
        }
        guard let identifier = ContainerIdentifier(text) else {
            let flaw = ContainerIdentifier.flaw(of: text).map { ", which cannot be one: \($0)" } ?? ""
            throw Complaint(
                .invalidIdentifier,
                "\(bundleName.text) has the CFBundleIdentifier \(BundleInformation.quote(text))\(flaw)")
        }
        self.identifier = identifier
        if let name = list.executable, !name.isEmpty {
            guard let executable = FileName(name) else {
                throw Complaint(
                    .invalidApp,
                    "\(bundleName.text) has the CFBundleExecutable \(BundleInformation.quote(name)), "
                        + "which is not the name of a file")
            }
            self.executable = executable
        } else {
            executable = nil
        }
        let stem = bundleName.text.hasSuffix(".app") ? String(bundleName.text.dropLast(4)) : bundleName.text
        displayName = [list.displayName, list.name].compactMap { $0 }.first { !$0.isEmpty } ?? stem
        version = list.version ?? ""
        build = list.build ?? ""
        sharesDocuments = list.sharesDocuments
    }

    /// Untrusted text for a message: one line, at most 80 characters.
    private static func quote(_ text: String) -> String {
        "\"\(String(text.unicodeScalars.prefix(80)).shown)\""
    }
}

/// The keys as they are decoded. A value of the wrong type counts as absent; only the identifier is required.
private struct InformationList: Decodable {
    let identifier, executable, displayName, name, version, build: String?
    let sharesDocuments: Bool

    private enum Key: String, CodingKey {
        case identifier = "CFBundleIdentifier"
        case executable = "CFBundleExecutable"
        case displayName = "CFBundleDisplayName"
        case name = "CFBundleName"
        case version = "CFBundleShortVersionString"
        case build = "CFBundleVersion"
        case sharesDocuments = "UIFileSharingEnabled"
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        func text(_ key: Key) -> String? { try? container.decode(String.self, forKey: key) }
        identifier = text(.identifier)
        executable = text(.executable)
        displayName = text(.displayName)
        name = text(.name)
        version = text(.version)
        build = text(.build)
        sharesDocuments = (try? container.decode(Bool.self, forKey: .sharesDocuments)) ?? false
    }
}
