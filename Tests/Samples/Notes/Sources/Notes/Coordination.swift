// Reading and writing beside other processes: the calls of Apple's articles on file coordinators and file presenters.

import ContainerFoundation

/// Shows a document, and tells what it is asked and told.
final class DocumentPresenter: NSObject, NSFilePresenter, @unchecked Sendable {
    let presentedItemOperationQueue = OperationQueue()
    /// Changed in the queue only.
    private(set) var presentedItemURL: URL?

    init(_ url: URL) {
        presentedItemURL = url
        presentedItemOperationQueue.maxConcurrentOperationCount = 1
    }

    /// At once, while another thread waits for input.
    private func tell(_ words: String) {
        FileHandle.standardOutput.write(Data("\(words)\n".utf8))
    }

    func relinquishPresentedItem(toReader reader: @escaping @Sendable ((@Sendable () -> Void)?) -> Void) {
        tell("a reader comes")
        reader { self.tell("the reader is gone") }
    }

    func relinquishPresentedItem(toWriter writer: @escaping @Sendable ((@Sendable () -> Void)?) -> Void) {
        tell("a writer comes")
        writer { self.tell("the writer is gone") }
    }

    /// Saves the words that the user has typed.
    func savePresentedItemChanges(completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
        tell("saves")
        var failure: NSError?
        NSFileCoordinator(filePresenter: self).coordinate(writingItemAt: presentedItemURL!, error: &failure) { url in
            try? Data("typed\n".utf8).write(to: url)
        }
        completionHandler(failure)
    }

    func accommodatePresentedItemDeletion(completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
        tell("closes the document")
        completionHandler(nil)
    }

    func presentedItemDidMove(to newURL: URL) {
        presentedItemURL = newURL
        tell("it is \(newURL.lastPathComponent) now")
    }

    func presentedItemDidChange() {
        tell("it has changed")
    }

    func presentedSubitemDidAppear(at url: URL) {
        tell("there is \(url.lastPathComponent)")
    }

    func presentedSubitemDidChange(at url: URL) {
        tell("\(url.lastPathComponent) has changed")
    }

    func presentedSubitem(at oldURL: URL, didMoveTo newURL: URL) {
        tell("\(oldURL.lastPathComponent) is \(newURL.lastPathComponent) now")
    }

    func accommodatePresentedSubitemDeletion(
        at url: URL, completionHandler: @escaping @Sendable ((any Error)?) -> Void
    ) {
        tell("lets \(url.lastPathComponent) go")
        completionHandler(nil)
    }
}

extension Notes {
    /// Presents a document until standard input ends.
    static func present(_ paths: [String]) {
        let presenters = paths.map { DocumentPresenter(URL(fileURLWithPath: $0)) }
        for presenter in presenters { NSFileCoordinator.addFilePresenter(presenter) }
        tell("presenting", paths.count)
        fflush(nil)
        while readLine() != nil {}
        for presenter in presenters { NSFileCoordinator.removeFilePresenter(presenter) }
    }

    /// One coordinated access: its kind, the item, and a word more.
    static func coordinate(_ words: [String]) {
        let item = URL(fileURLWithPath: words[1])
        let coordinator = NSFileCoordinator()
        var failure: NSError?
        switch words[0] {
        case "read":
            coordinator.coordinate(readingItemAt: item, error: &failure) { url in
                tell("read", try? String(contentsOf: url, encoding: .utf8))
            }
        case "write":
            coordinator.coordinate(writingItemAt: item, error: &failure) { url in
                tell("written", (try? Data((words[2] + "\n").utf8).write(to: url)) != nil)
            }
        case "hold":
            coordinator.coordinate(writingItemAt: item, error: &failure) { url in
                tell("holding", url.lastPathComponent)
                fflush(nil)
                while readLine() != nil {}
            }
        case "count":
            for _ in 0..<Int(words[2])! { count(item, &failure) }
        case "delete":
            coordinator.coordinate(writingItemAt: item, options: .forDeleting, error: &failure) { url in
                tell("deleted", (try? storage.files.removeItem(at: url)) != nil)
            }
        case "move":
            coordinator.coordinate(
                writingItemAt: item, options: .forMoving, writingItemAt: URL(fileURLWithPath: words[2]),
                options: .forReplacing, error: &failure
            ) { old, new in
                if words.count > 3 {
                    tell("moving", old.lastPathComponent)
                    fflush(nil)
                    while readLine() != nil {}
                }
                tell("moved", (try? storage.files.moveItem(at: old, to: new)) != nil)
                coordinator.item(at: old, didMoveTo: new)
            }
        default: tell(words[0], "no such access")
        }
        if let failure { tell("failed", failure.code) }
    }

    /// Adds one to the number in a file, which needs a read and a write that belong together.
    private static func count(_ item: URL, _ failure: inout NSError?) {
        NSFileCoordinator().coordinate(writingItemAt: item, error: &failure) { url in
            let number = (try? String(contentsOf: url, encoding: .utf8)).flatMap { Int($0) } ?? 0
            usleep(1000)
            try? Data("\(number + 1)".utf8).write(to: url)
        }
    }
}
