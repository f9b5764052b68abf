// The calls that wait on the caller's thread. The error pointers are the caller's, and are used during the call only.

public import Foundation

extension NSFileCoordinator {
    /// Waits until the item may be read, and calls the reader with its URL.
    ///
    /// - Parameters:
    ///   - url: the item.
    ///   - options: as on Apple's systems.
    ///   - outError: why the reader was not called; a `CocoaError`, or the error of a presenter.
    ///   - reader: reads the item at the URL that it gets, before this call returns.
    public func coordinate(
        readingItemAt url: URL, options: ReadingOptions = [], error outError: NSErrorPointer,
        byAccessor reader: (URL) -> Void
    ) {
        let error = coordinate([.reading(url, options)]) { reader($0[0]) }
        if let error { unsafe outError?.pointee = error }
    }

    /// Waits until the item may be written, and calls the writer with its URL.
    public func coordinate(
        writingItemAt url: URL, options: WritingOptions = [], error outError: NSErrorPointer,
        byAccessor writer: (URL) -> Void
    ) {
        let error = coordinate([.writing(url, options)]) { writer($0[0]) }
        if let error { unsafe outError?.pointee = error }
    }

    /// Waits until one item may be read and the other one written, at once.
    public func coordinate(
        readingItemAt readingURL: URL, options readingOptions: ReadingOptions = [], writingItemAt writingURL: URL,
        options writingOptions: WritingOptions = [], error outError: NSErrorPointer,
        byAccessor readerWriter: (URL, URL) -> Void
    ) {
        let error = coordinate([.reading(readingURL, readingOptions), .writing(writingURL, writingOptions)]) {
            readerWriter($0[0], $0[1])
        }
        if let error { unsafe outError?.pointee = error }
    }

    /// Waits until both items may be written, at once: for a move, with `forMoving` and `forReplacing`.
    public func coordinate(
        writingItemAt url1: URL, options options1: WritingOptions = [], writingItemAt url2: URL,
        options options2: WritingOptions = [], error outError: NSErrorPointer, byAccessor writer: (URL, URL) -> Void
    ) {
        let error = coordinate([.writing(url1, options1), .writing(url2, options2)]) { writer($0[0], $0[1]) }
        if let error { unsafe outError?.pointee = error }
    }

    /// Has presenters of all items, and of items in them, get ready once for many accesses, which the accessor makes
    /// with this coordinator. It has to call the block that it gets at the end of the last one.
    public func prepare(
        forReadingItemsAt readingURLs: [URL], options readingOptions: ReadingOptions = [],
        writingItemsAt writingURLs: [URL], options writingOptions: WritingOptions = [],
        error outError: NSErrorPointer, byAccessor batchAccessor: (@escaping @Sendable () -> Void) -> Void
    ) {
        let requests =
            readingURLs.map { AccessRequest.reading($0, readingOptions) }
            + writingURLs.map { AccessRequest.writing($0, writingOptions) }
        let error = prepare(requests, batchAccessor)
        if let error { unsafe outError?.pointee = error }
    }
}
