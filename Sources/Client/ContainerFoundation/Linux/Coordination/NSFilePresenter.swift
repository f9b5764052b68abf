// Foundation's protocol of objects that show a file or directory, and take part when others read or write it.

public import Foundation

/// Shows an item, and is asked and told when others read, write, move or delete it by an ``NSFileCoordinator``: in this
/// process, in other processes on the same mount, and in other apps of the item's group.
///
/// Register it with ``NSFileCoordinator/addFilePresenter(_:)``. All calls come in ``presentedItemOperationQueue``. Each
/// method may be left out. A presenter of a directory hears of all items in it; a directory is never a file package
/// here.
@preconcurrency
public protocol NSFilePresenter: AnyObject {
    /// The item; nil while there is none.
    var presentedItemURL: URL? { get }

    /// The queue of all calls. Not one that waits for a coordinator.
    var presentedItemOperationQueue: OperationQueue { get }

    /// Somebody is going to read. Call `reader` when that may begin, with a block that is called at its end.
    func relinquishPresentedItem(toReader reader: @escaping @Sendable ((@Sendable () -> Void)?) -> Void)

    /// Somebody is going to write. Call `writer` when that may begin, with a block that is called at its end.
    func relinquishPresentedItem(toWriter writer: @escaping @Sendable ((@Sendable () -> Void)?) -> Void)

    /// Save what is not saved yet, for somebody who is going to read. With an error nobody reads.
    func savePresentedItemChanges(completionHandler: @escaping @Sendable ((any Error)?) -> Void)

    /// The item is going to be deleted or replaced. With an error it is not.
    func accommodatePresentedItemDeletion(completionHandler: @escaping @Sendable ((any Error)?) -> Void)

    /// The item has another URL now.
    func presentedItemDidMove(to newURL: URL)

    /// Somebody has written the item.
    func presentedItemDidChange()

    /// An item in the directory is going to be deleted or replaced. With an error it is not.
    func accommodatePresentedSubitemDeletion(
        at url: URL, completionHandler: @escaping @Sendable ((any Error)?) -> Void)

    /// There is a new item in the directory.
    func presentedSubitemDidAppear(at url: URL)

    /// An item in the directory has another URL now.
    func presentedSubitem(at oldURL: URL, didMoveTo newURL: URL)

    /// Somebody has written an item in the directory.
    func presentedSubitemDidChange(at url: URL)
}

extension NSFilePresenter {
    public func relinquishPresentedItem(toReader reader: @escaping @Sendable ((@Sendable () -> Void)?) -> Void) {
        reader(nil)
    }

    public func relinquishPresentedItem(toWriter writer: @escaping @Sendable ((@Sendable () -> Void)?) -> Void) {
        writer(nil)
    }

    public func savePresentedItemChanges(completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
        completionHandler(nil)
    }

    public func accommodatePresentedItemDeletion(completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
        completionHandler(nil)
    }

    public func presentedItemDidMove(to newURL: URL) {}

    public func presentedItemDidChange() {}

    public func accommodatePresentedSubitemDeletion(
        at url: URL, completionHandler: @escaping @Sendable ((any Error)?) -> Void
    ) {
        completionHandler(nil)
    }

    public func presentedSubitemDidAppear(at url: URL) {}

    public func presentedSubitem(at oldURL: URL, didMoveTo newURL: URL) {}

    public func presentedSubitemDidChange(at url: URL) {}
}
