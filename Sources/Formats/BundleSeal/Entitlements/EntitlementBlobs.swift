// The two blobs of a signature that hold an app's entitlements.

import Platform
import SandboxModel

/// The entitlements of one signature: a property list (slot 5) and the same in DER (slot 7), each a blob with magic
/// number and length (xnu, osfmk/kern/cs_blobs.h).
struct EntitlementBlobs: Equatable {
    var propertyList: [UInt8]?
    var der: [UInt8]?

    /// The limits of a signature's entitlements, far above those of real apps.
    static let largest = 64 << 10
    static let mostValues = 2000

    private static let propertyListMagic: UInt32 = 0xFADE_7171
    private static let derMagic: UInt32 = 0xFADE_7172

    init(propertyList: [UInt8]?, der: [UInt8]?) {
        self.propertyList = propertyList
        self.der = der
    }

    /// The blobs of new entitlements; equal ones give equal bytes.
    /// - Throws: ``SealFault`` for entitlements that no signature can hold.
    init(_ entitlements: Entitlements) throws(SealFault) {
        guard entitlements.values.values.reduce(0, { $0 + $1.count }) <= EntitlementBlobs.mostValues else {
            throw SealFault("they have more than \(EntitlementBlobs.mostValues) values")
        }
        let list = EntitlementBlobs.blob(
            EntitlementBlobs.propertyListMagic, try EntitlementsPropertyList.encode(entitlements))
        let der = EntitlementBlobs.blob(EntitlementBlobs.derMagic, EntitlementsDER.encode(entitlements))
        guard max(list.count, der.count) <= EntitlementBlobs.largest else { throw EntitlementBlobs.tooLarge }
        self.init(propertyList: list, der: der)
    }

    /// The blobs beside a detached signature; none where there is no file.
    /// - Parameter place: of the signature's files, from the directory.
    /// - Throws: ``SealFault`` for a file that is there and cannot be read, such as one beyond the limit.
    init(in directory: borrowing Descriptor, at place: [FileName]) throws(SealFault) {
        do throws(SystemError) {
            propertyList = try directory.blob(at: place + [SealLayout.entitlements])
            der = try directory.blob(at: place + [SealLayout.derEntitlements])
        } catch {
            guard error != .fileTooLarge else { throw EntitlementBlobs.tooLarge }
            throw SealFault("they cannot be read: \(error.message)")
        }
    }

    private static let tooLarge = SealFault("they are larger than \(largest >> 10) KiB")

    /// The entitlements; none without a blob.
    /// - Throws: ``SealFault`` for a blob that cannot be read, and where the two disagree.
    func entitlements() throws(SealFault) -> Entitlements {
        let list = try propertyList.map { (blob) throws(SealFault) in
            try EntitlementsPropertyList.decode(try EntitlementBlobs.content(blob, EntitlementBlobs.propertyListMagic))
        }
        let coded = try der.map { (blob) throws(SealFault) in
            try EntitlementsDER.decode(try EntitlementBlobs.content(blob, EntitlementBlobs.derMagic))
        }
        if let list, let coded, list != coded {
            let keys = Set(list.values.keys).union(coded.values.keys).sorted()
            let key = keys.first { list.values[$0] != coded.values[$0] } ?? ""
            throw SealFault("their property list and their DER disagree about \(Array(key.utf8).shown)")
        }
        let found = coded ?? list ?? Entitlements()
        guard found.values.values.reduce(0, { $0 + $1.count }) <= EntitlementBlobs.mostValues else {
            throw SealFault("they have more than \(EntitlementBlobs.mostValues) values")
        }
        return found
    }

    private static func blob(_ magic: UInt32, _ content: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(word: magic)
        bytes.append(word: UInt32(content.count + 8))
        return bytes + content
    }

    private static func content(_ blob: [UInt8], _ magic: UInt32) throws(SealFault) -> [UInt8] {
        guard blob.count <= largest else { throw tooLarge }
        guard blob.count >= 8, blob.word(at: 0) == magic, Int(blob.word(at: 4)) == blob.count else {
            throw SealFault("their blob does not begin with its magic number and length")
        }
        return Array(blob.dropFirst(8))
    }
}

extension Descriptor {
    /// The bytes of a file; nil where there is none.
    fileprivate borrowing func blob(at path: [FileName]) throws(SystemError) -> [UInt8]? {
        do throws(SystemError) {
            return try openFile(at: path).readToEnd(limit: EntitlementBlobs.largest)
        } catch {
            guard error == .noEntry else { throw error }
            return nil
        }
    }
}
