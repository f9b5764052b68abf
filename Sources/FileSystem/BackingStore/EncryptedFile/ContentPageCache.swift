// The verified tag pages of one open file.

import Platform
import Synchronization

/// A few verified pages, each in the one place that its number allows.
///
/// Readers of the file share it, so it has a lock of its own: the innermost of a file's locks. What a page holds is
/// guarded by the file's lock. A page that is pushed out is used again if nobody holds it, so that a file that is
/// read at random allocates nothing.
final class ContentPageCache: Sendable {
    static let capacity = 32

    private let pages = Mutex<[ContentPage?]>([])

    func page(_ number: Int) -> ContentPage? {
        pages.withLock { pages in
            guard !pages.isEmpty, let page = pages[number % ContentPageCache.capacity], page.number == number else {
                return nil
            }
            return page
        }
    }

    /// A page that is in no cache, to be filled and then inserted.
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

    func insert(_ page: ContentPage) {
        pages.withLock { pages in
            if pages.isEmpty { pages = [ContentPage?](repeating: nil, count: ContentPageCache.capacity) }
            pages[page.number % ContentPageCache.capacity] = page
        }
    }

    /// Forgets the pages of all higher numbers.
    func remove(after last: Int) {
        pages.withLock { pages in
            for place in pages.indices where pages[place].map({ $0.number > last }) ?? false { pages[place] = nil }
        }
    }

    func removeAll() {
        pages.withLock { $0 = [] }
    }
}
