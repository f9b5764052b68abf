// An entry that comes where it cannot, as what is wrong with an archive.

import BackupModel
import SandboxModel

extension WalkOrder {
    /// - Parameter archived: the path in the archive.
    func requirePlace(of path: [FileName], in domain: BackupDomain, _ archived: [UInt8]) throws(BackupFlaw) {
        switch step(to: path, in: domain) {
        case .inPlace: return
        case .missing: throw BackupFlaw("has \(archived.shown), but not the directory that it lies in")
        case .repeated: throw BackupFlaw("has \(archived.shown) twice")
        case .outOfOrder: throw BackupFlaw("has \(archived.shown) out of order, or twice")
        case .belowFile: throw BackupFlaw("has \(archived.shown) below what is no directory")
        }
    }
}
