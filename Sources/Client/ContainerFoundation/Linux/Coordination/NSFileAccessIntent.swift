// An item that a coordinator is asked for together with others.

public import Foundation
import Synchronization

/// An item that is going to be read or written, for ``NSFileCoordinator/coordinate(with:queue:byAccessor:)``.
public final class NSFileAccessIntent: NSObject, Sendable {
    let request: AccessRequest
    private let current: Mutex<URL>

    private init(_ request: AccessRequest) {
        self.request = request
        current = Mutex(request.url)
        super.init()
    }

    public class func readingIntent(
        with url: URL, options: NSFileCoordinator.ReadingOptions = []
    ) -> NSFileAccessIntent {
        NSFileAccessIntent(.reading(url, options))
    }

    public class func writingIntent(
        with url: URL, options: NSFileCoordinator.WritingOptions = []
    ) -> NSFileAccessIntent {
        NSFileAccessIntent(.writing(url, options))
    }

    /// The item's URL. In the accessor it is where the item is then.
    public internal(set) var url: URL {
        get { current.withLock { $0 } }
        set { current.withLock { $0 = newValue } }
    }
}
