// A cache of the verified pages of one open file.

import Platform
import Synchronization

/// Up to 32 verified pages, direct-mapped: a page's number decides its place.
///
/// Lock: its own, the innermost of a file's locks, because readers share the cache. The content of a page is guarded by
/// the file's lock. A page that is evicted is reused if nobody holds it, so that random reads allocate nothing.
final class ContentPageCache: Sendable {
    static let capacity = 32

    private let pages = Mutex<[ContentPage?]>([])

    /// A cached page; nil if it has to be read.
    func page(_ number: Int) -> ContentPage? {
        pages.withLock { pages in
            guard !pages.isEmpty, let page = pages[number % ContentPageCache.capacity], page.number == number else {
                return nil
            }
            return page
        }
    }

    /// A page outside the cache, to be filled and then inserted.
    func blank(for number: Int) -> ContentPage {
        let reused: ContentPage? = pages.withLock { pages in
            guard !pages.isEmpty else { return nil }
            let place = number % ContentPageCache.capacity
            guard pages[place] != nil, isKnownUniquelyReferenced(&pages[place]!) else { return nil }
            defer { pages[place] = nil }
            return pages[place]
        }
        return reused ?? ContentPage()
    }

    /// Caches a page, which evicts the one at its place.
    func insert(_ page: ContentPage) {
        pages.withLock { pages in
            if pages.isEmpty { pages = [ContentPage?](repeating: nil, count: ContentPageCache.capacity) }
            pages[page.number % ContentPageCache.capacity] = page
        }
    }

    /// Removes the pages of higher numbers.
    func remove(after last: Int) {
        pages.withLock { pages in
            for place in pages.indices where pages[place].map({ $0.number > last }) ?? false { pages[place] = nil }
        }
    }

    func removeAll() {
        pages.withLock { $0 = [] }
    }
}
