// Entries out of the order of the walk, as flaws of an archive.

import BackupModel
import SandboxModel
import TarFormat

extension WalkOrder {
    /// Checks that an entry comes in the order of the walk.
    /// - Parameter archived: the path in the archive, for the message.
    func requirePlace(of path: [FileName], in domain: BackupDomain, _ archived: [UInt8]) throws(ArchiveFlaw) {
        switch step(to: path, in: domain) {
        case .inPlace: return
        case .missing: throw ArchiveFlaw("has \(archived.shown), but not the directory that it lies in")
        case .repeated: throw ArchiveFlaw("has \(archived.shown) twice")
        case .outOfOrder: throw ArchiveFlaw("has \(archived.shown) out of order, or twice")
        case .belowFile: throw ArchiveFlaw("has \(archived.shown) below what is no directory")
        }
    }
}
