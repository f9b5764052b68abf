// One entry of Library/Caches or tmp, taken into the trash.

public import BackingStore
public import Platform
public import SandboxModel

/// What became of an entry that was to be purged.
public enum Withdrawal: Sendable {
    /// It is in the trash.
    case taken(Trash.Item)
    /// A file in it was opened meanwhile.
    case open
    /// It is gone, or another has its name.
    case changed
    case failed(SystemError)

    /// Takes an entry, whoever may be looking at it.
    ///
    /// - Parameter isOpen: looked at when the entry was found to be the one that is meant.
    init(
        _ entry: PurgeableEntry, from directory: borrowing Descriptor, into trash: Trash, isOpen: Bool
    ) {
        do throws(SystemError) {
            guard try directory.status(of: entry.name).inode == entry.inode else {
                self = .changed
                return
            }
            self = isOpen ? .open : .taken(try trash.take(entry.name, from: directory))
        } catch {
            self = error == .noEntry ? .changed : .failed(error)
        }
    }
}

extension StoreContext {
    /// Takes entries away from a container that no volume shows.
    ///
    /// - Parameter directory: the container's `Library/Caches` or `tmp`, which all of them are entries of.
    public func withdraw(
        _ entries: [PurgeableEntry], from directory: borrowing Descriptor, into trash: Trash
    ) -> [Withdrawal] {
        entries.map { entry in
            let withdrawal = Withdrawal(entry, from: directory, into: trash, isOpen: false)
            if case .taken = withdrawal { uses.forget(entry.inode) }
            return withdrawal
        }
    }
}
