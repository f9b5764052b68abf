// One entry of Library/Caches or tmp, taken into the trash.

public import BackingStore
public import Platform
public import SandboxModel

/// The result of taking one entry for a purge.
public enum Withdrawal: Sendable {
    /// It is in the trash.
    case taken(Trash.Item)
    /// It holds a file that was opened meanwhile.
    case open
    /// It is gone, or another entry has its name.
    case changed
    case failed(SystemError)

    /// Takes an entry if it is still the same one.
    ///
    /// - Parameter isOpen: whether the entry holds an open file, and stays.
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
    /// Takes entries from a container that no volume shows.
    ///
    /// - Parameter directory: the container's `Library/Caches` or `tmp`, the directory of all these entries.
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
