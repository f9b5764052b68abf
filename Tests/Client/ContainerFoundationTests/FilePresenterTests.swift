// Tests of presenters, which are asked before an access and told after it.

import Platform
import Testing

@testable import ContainerFoundation

@Suite struct FilePresenterTests {
    private let place: Workplace
    private let file: URL

    init() throws {
        place = try Workplace()
        file = try place.file("file")
    }

    private func write(
        _ url: URL, _ options: NSFileCoordinator.WritingOptions = [], _ coordinator: NSFileCoordinator? = nil,
        _ body: (URL) -> Void = { try? Data("new".utf8).write(to: $0) }
    ) -> Int? {
        var error: NSError?
        unsafe (coordinator ?? NSFileCoordinator()).coordinate(
            writingItemAt: url, options: options, error: &error, byAccessor: body)
        return error?.code
    }

    private func read(_ url: URL, _ options: NSFileCoordinator.ReadingOptions = []) -> Int? {
        var error: NSError?
        unsafe NSFileCoordinator().coordinate(readingItemAt: url, options: options, error: &error) { _ in }
        return error?.code
    }

    @Test func `a presenter saves for a reader and takes its item back`() {
        let presenter = TestPresenter(file)
        #expect(read(file) == nil)
        #expect(presenter.words == ["to reader", "save", "back"])
        #expect(read(file, .withoutChanges) == nil)
        #expect(presenter.words.suffix(2) == ["to reader", "back"])
    }

    @Test func `a presenter gives way to a writer and hears of the change`() {
        let presenter = TestPresenter(file)
        #expect(write(file) == nil)
        #expect(presenter.words == ["to writer", "back", "changed"])
        #expect(write(file, .forMerging) == nil)
        #expect(presenter.words.suffix(4) == ["to writer", "save", "back", "changed"])
        #expect(write(file, .contentIndependentMetadataOnly) == nil)
        #expect(presenter.words.suffix(2) == ["changed", "changed"])
    }

    @Test func `a presenter can write when it is asked to save`() {
        let presenter = TestPresenter(file) { presenter in
            unsafe NSFileCoordinator(filePresenter: presenter).coordinate(
                writingItemAt: presenter.presentedItemURL!, error: nil
            ) { try? Data("saved".utf8).write(to: $0) }
        }
        #expect(read(file) == nil)
        #expect((try? text(of: file)) == "saved")
        // It has heard nothing of its own writing.
        #expect(presenter.words == ["to reader", "save", "back"])
    }

    @Test func `a presenter's error ends the access`() {
        let presenter = TestPresenter(file)
        presenter.fail(with: .fileWriteOutOfSpace)
        #expect(read(file) == CocoaError.fileWriteOutOfSpace.rawValue)
        #expect(
            write(file, .forDeleting) { _ in Issue.record("was deleted") } == CocoaError.fileWriteOutOfSpace.rawValue)
        #expect(presenter.words == ["to reader", "save", "back", "to writer", "delete", "back", "changed"])
    }

    @Test func `a presenter accommodates a deletion`() {
        let presenter = TestPresenter(file)
        let above = TestPresenter(place.url)
        #expect(write(file, .forDeleting) { try? FileManager.default.removeItem(at: $0) } == nil)
        #expect(presenter.words == ["to writer", "delete", "back"])
        #expect(above.words == ["delete file"])
    }

    @Test func `presenters of a directory hear of what it contains`() {
        let above = TestPresenter(place.url)
        #expect(write(place("new")) == nil)
        #expect(write(place("new")) == nil)
        #expect(read(file) == nil)
        #expect(above.words == ["new appeared", "new changed"])
    }

    @Test func `a move is told to presenters of the item, of its content and of its directory`() throws {
        let directory = place("directory")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let inside = try place.file("directory/inside")
        let presenters = [TestPresenter(directory), TestPresenter(inside), TestPresenter(place.url)]
        let coordinator = NSFileCoordinator()
        let new = place("moved")
        unsafe coordinator.coordinate(
            writingItemAt: directory, options: .forMoving, writingItemAt: new, options: .forReplacing, error: nil
        ) { old, new in
            try? FileManager.default.moveItem(at: old, to: new)
            coordinator.item(at: old, didMoveTo: new)
        }
        #expect(presenters[0].words == ["to writer", "moved to moved", "back"])
        #expect(presenters[1].words == ["to writer", "moved to inside", "back"])
        #expect(presenters[1].presentedItemURL?.path == place("moved/inside").path)
        #expect(presenters[2].words == ["directory moved to moved"])
        // From now on it is asked where it is.
        #expect(write(place("moved/inside")) == nil)
        #expect(presenters[1].words.suffix(3) == ["to writer", "back", "changed"])
    }

    @Test func `one who waits for an item that is moved tells presenters of the change where it is`() throws {
        let folder = place("folder")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let new = folder.appending(path: "moved")
        let presenters = [TestPresenter(file), TestPresenter(place.url), TestPresenter(new), TestPresenter(folder)]
        let mover = NSFileCoordinator()
        var waiting: HostThread?
        unsafe mover.coordinate(
            writingItemAt: file, options: .forMoving, writingItemAt: new, options: .forReplacing, error: nil
        ) { old, new in
            waiting = try! HostThread(name: "waiting") { #expect(write(file) == nil) }
            place.awaitClaims(2)
            try! FileManager.default.moveItem(at: old, to: new)
            mover.item(at: old, didMoveTo: new)
        }
        waiting?.join()
        #expect(presenters[0].words.filter { $0 != "back" } == ["to writer", "to writer", "moved to moved", "changed"])
        #expect(presenters[0].words.count { $0 == "back" } == 2)
        #expect(presenters[1].words == ["file moved to moved", "moved changed"])
        // It is asked when the waiting one has gone there.
        #expect(presenters[2].words.count { $0 == "to writer" } == 2)
        #expect(presenters[2].words.count { $0 == "changed" } == 2)
        #expect(presenters[3].words.last == "moved changed")
    }

    @Test func `presenters of one batch are asked once`() {
        let presenter = TestPresenter(file)
        let above = TestPresenter(place.url)
        let coordinator = NSFileCoordinator()
        var error: NSError?
        unsafe coordinator.prepare(
            forReadingItemsAt: [], writingItemsAt: [place.url], error: &error
        ) { done in
            for _ in 0..<3 { #expect(write(file, [], coordinator) == nil) }
            done()
            done()
        }
        #expect(error == nil)
        #expect(presenter.words == ["to writer", "changed", "changed", "changed", "back"])
        #expect(above.words == ["to writer", "file changed", "file changed", "file changed", "back"])
        #expect(write(file, [], coordinator) == nil)
        #expect(presenter.words.suffix(3) == ["to writer", "back", "changed"])
    }

    @Test func `a presenter that says nothing is passed over`() {
        let presenter = TestPresenter(file)
        presenter.becomeMute()
        var limits = CoordinationLimits()
        limits.presenters = 0.1
        CoordinationLimits.$current.withValue(limits) { #expect(write(file) == nil) }
        #expect(presenter.words == ["to writer", "changed"])
    }

    @Test func `a presenter is registered until it is removed, or gone`() {
        var presenter: TestPresenter? = TestPresenter(file)
        let identity = ObjectIdentifier(presenter!)
        func isRegistered() -> Bool { NSFileCoordinator.filePresenters.contains { ObjectIdentifier($0) == identity } }
        #expect(isRegistered())
        NSFileCoordinator.removeFilePresenter(presenter!)
        #expect(!isRegistered())
        NSFileCoordinator.addFilePresenter(presenter!)
        presenter = nil
        #expect(!isRegistered())
        #expect(write(file) == nil)
    }
}
