// Tests of coordinators that wait for each other.

import Platform
import Synchronization
import Testing

@testable import ContainerFoundation

@Suite struct FileCoordinatorTests {
    private let place: Workplace
    private let file: URL

    init() throws {
        place = try Workplace()
        file = try place.file("file", "0")
    }

    /// The code of the error of an access to the file; nil if the accessor was called.
    private func outcome(
        of coordinator: NSFileCoordinator = NSFileCoordinator(), writing: NSFileCoordinator.WritingOptions = []
    ) -> Int? {
        var error: NSError?
        var isCalled = false
        unsafe coordinator.coordinate(writingItemAt: file, options: writing, error: &error) { _ in isCalled = true }
        #expect(isCalled == (error == nil))
        return error?.code
    }

    @Test func `writers wait for each other`() throws {
        let threads = (0..<4).map { _ in
            try! HostThread(name: "writer") {
                for _ in 0..<10 {
                    unsafe NSFileCoordinator().coordinate(writingItemAt: file, error: nil) { url in
                        let number = Int(try! text(of: url))!
                        usleep(500)
                        try! Data("\(number + 1)".utf8).write(to: url)
                    }
                }
            }
        }
        for thread in threads { thread.join() }
        #expect(try text(of: file) == "40")
    }

    @Test func `readers do not wait for each other`() throws {
        let inside = Monitor(0)
        let threads = (0..<3).map { _ in
            try! HostThread(name: "reader") {
                unsafe NSFileCoordinator().coordinate(readingItemAt: file, error: nil) { _ in
                    inside.access { $0 += 1 }
                    // Each waits until all are in.
                    _ = inside.wait(until: MonotonicClock.nanoseconds + 20_000_000_000) { $0 == 3 ? true : nil }
                }
            }
        }
        for thread in threads { thread.join() }
        #expect(inside.access { $0 } == 3)
    }

    /// Runs a body while another thread writes the file, and has not ended.
    private func whileWritten(_ options: NSFileCoordinator.WritingOptions = [], _ body: () -> Void) {
        let state = Monitor((isIn: false, isOver: false))
        let writer = try! HostThread(name: "writer") {
            unsafe NSFileCoordinator().coordinate(writingItemAt: file, options: options, error: nil) { _ in
                state.access { $0.isIn = true }
                _ = state.wait { $0.isOver ? true : nil }
            }
        }
        _ = state.wait { $0.isIn ? true : nil }
        body()
        state.access { $0.isOver = true }
        writer.join()
    }

    @Test func `one who waits can be cancelled, and waits no more`() {
        let coordinator = NSFileCoordinator()
        whileWritten {
            let canceller = try! HostThread(name: "canceller") {
                usleep(50_000)
                coordinator.cancel()
            }
            #expect(outcome(of: coordinator) == CocoaError.userCancelled.rawValue)
            canceller.join()
        }
        #expect(outcome(of: coordinator) == CocoaError.userCancelled.rawValue)
        #expect(outcome() == nil)
    }

    @Test func `a coordinator does not wait for itself, and neither do two of one purpose`() {
        let coordinator = NSFileCoordinator()
        var purposes = 0
        unsafe coordinator.coordinate(writingItemAt: file, error: nil) { _ in
            #expect(outcome(of: coordinator) == nil)
            let other = NSFileCoordinator()
            other.purposeIdentifier = coordinator.purposeIdentifier
            #expect(outcome(of: other) == nil)
            purposes += 1
        }
        #expect(purposes == 1)
        #expect(NSFileCoordinator().purposeIdentifier != coordinator.purposeIdentifier)
    }

    @Test func `an inner access goes before one that waits for the outer one`() {
        let coordinator = NSFileCoordinator()
        let order = Monitor<[String]>([])
        var other: HostThread?
        unsafe coordinator.coordinate(readingItemAt: file, error: nil) { _ in
            other = try! HostThread(name: "other") {
                unsafe NSFileCoordinator().coordinate(writingItemAt: file, error: nil) { _ in
                    order.access { $0.append("other") }
                }
            }
            place.awaitClaims(2)
            #expect(outcome(of: coordinator) == nil)
            order.access { $0.append("inner") }
        }
        other?.join()
        #expect(order.access { $0 } == ["inner", "other"])
    }

    @Test func `content of a directory waits if the directory is moved, and not if it is written`() throws {
        let directory = place("directory")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let inside = directory.appending(path: "inside")
        for (options, waits) in [(NSFileCoordinator.WritingOptions(), false), (.forMoving, true), (.forDeleting, true)]
        {
            let coordinator = NSFileCoordinator()
            unsafe NSFileCoordinator().coordinate(writingItemAt: directory, options: options, error: nil) { _ in
                // One that waits would do so until the writing ends, and that for it.
                var canceller: HostThread?
                if waits {
                    canceller = try! HostThread(name: "canceller") {
                        place.awaitClaims(2)
                        coordinator.cancel()
                    }
                }
                var error: NSError?
                var isRead = false
                unsafe coordinator.coordinate(readingItemAt: inside, error: &error) { _ in isRead = true }
                canceller?.join()
                #expect(isRead != waits && (error != nil) == waits)
            }
        }
    }

    @Test func `one who waits gets the URL that the item was moved to`() throws {
        let new = place("moved")
        let mover = NSFileCoordinator()
        let state = Monitor<URL?>(nil)
        var waiting: HostThread?
        unsafe mover.coordinate(
            writingItemAt: file, options: .forMoving, writingItemAt: new, options: .forReplacing, error: nil
        ) { old, new in
            waiting = try! HostThread(name: "waiting") {
                unsafe NSFileCoordinator().coordinate(writingItemAt: file, error: nil) { url in
                    state.access { $0 = url }
                }
            }
            place.awaitClaims(2)
            try! FileManager.default.moveItem(at: old, to: new)
            mover.item(at: old, didMoveTo: new)
        }
        waiting?.join()
        #expect(state.access { $0?.path } == new.path)
    }

    @Test func `several items are asked for at once, on a queue`() async throws {
        let other = try place.file("other")
        let intents = [
            NSFileAccessIntent.readingIntent(with: file), .writingIntent(with: other, options: .forMerging),
        ]
        let queue = OperationQueue()
        let error = await withCheckedContinuation { continuation in
            NSFileCoordinator().coordinate(with: intents, queue: queue) { error in
                continuation.resume(returning: error.map { ($0 as NSError).code })
            }
        }
        #expect(error == nil)
        #expect(intents.map(\.url) == [file, other])
        let coordinator = NSFileCoordinator()
        coordinator.cancel()
        let code = await withCheckedContinuation { continuation in
            coordinator.coordinate(with: intents, queue: queue) { error in
                continuation.resume(returning: error.map { ($0 as NSError).code })
            }
        }
        #expect(code == CocoaError.userCancelled.rawValue)
    }

    @Test func `a link is resolved if that is asked for`() throws {
        let link = place("link")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: file)
        var urls: [URL] = []
        unsafe NSFileCoordinator().coordinate(readingItemAt: link, error: nil) { urls.append($0) }
        unsafe NSFileCoordinator().coordinate(readingItemAt: link, options: .resolvesSymbolicLink, error: nil) {
            urls.append($0)
        }
        #expect(urls.map(\.lastPathComponent) == ["link", "file"])
    }

    @Test func `an upload reads a copy, and keeps nobody waiting`() throws {
        var copy: URL?
        unsafe NSFileCoordinator().coordinate(readingItemAt: file, options: .forUploading, error: nil) { url in
            copy = url
            #expect((try? text(of: url)) == "0")
            #expect(outcome() == nil)
        }
        #expect(copy != nil && copy != file)
        #expect(!FileManager.default.fileExists(atPath: copy?.path ?? ""))
        var error: NSError?
        unsafe NSFileCoordinator().coordinate(readingItemAt: place.url, options: .forUploading, error: &error) { _ in }
        #expect(error?.code == CocoaError.Code.featureUnsupported.rawValue)
        #expect(outcome() == nil)
    }

    @Test func `a URL that is of no file is refused`() {
        var error: NSError?
        unsafe NSFileCoordinator().coordinate(readingItemAt: URL(string: "https://a.b/c")!, error: &error) { _ in }
        #expect(error?.domain == NSCocoaErrorDomain)
    }
}
