// Expectations about a container, for Swift Testing and XCTest alike.

public import AppContainer
import Glibc
import Platform
import SandboxModel

/// Expects that the device refuses a call that the body makes.
///
/// The body may throw what the refused call gave it, or take the error itself. The device's record counts:
/// whether it refused something of this container meanwhile, and by whom.
///
/// - Parameters:
///   - refusal: who is to refuse.
///   - container: the one of the test.
///   - file: the place of the call, for the report.
///   - fileID: as `file`.
///   - line: as `file`.
///   - column: as `file`.
///   - isolation: the actor on which the body runs; that of the caller.
///   - body: makes the call.
/// - Returns: the refusals, in the order in which they came.
@discardableResult
public func expectRefused(
    _ refusal: Refusal, in container: TestContainer = AppContainer.current, file: StaticString = #filePath,
    fileID: String = #fileID, line: Int = #line, column: Int = #column,
    isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Void
) async throws -> [Event] {
    let place = Place(file: file, fileID: fileID, line: line, column: column)
    let (result, events) = try await container.events(during: body)
    let refused = events.filter { $0.event == .refused && !$0.isSummary && $0.app == container.app }
    let matching = refused.filter { refusal.matches($0.rule) }
    if !matching.isEmpty {
        container.expected.add(matching)
        return matching
    }
    if let other = refused.first {
        place.fail(
            "expected a refusal by \(refusal), but it was the rule \(other.rule ?? "?") that refused "
                + "\(other.operation ?? "a call") of \(other.path ?? "a file")")
    } else if case .failure(let error) = result {
        place.fail("expected a refusal by \(refusal), but nothing was refused; the call failed otherwise: \(error)")
    } else {
        place.fail("expected a refusal by \(refusal), but nothing was refused")
    }
    return []
}

/// Expects that a file's content cannot be reached, as when the device is locked: EPERM, at once.
public func expectUnreadable(
    _ path: String, in container: TestContainer = AppContainer.current, file: StaticString = #filePath,
    fileID: String = #fileID, line: Int = #line, column: Int = #column
) {
    let place = Place(file: file, fileID: fileID, line: line, column: column)
    let start = Event.now
    switch readingFails(container.whole(path)) {
    case nil: place.fail("expected \(path) to be unreadable, but it can be read")
    case .notPermitted?: container.expected.addReading(of: container.relative(path), from: start, to: Event.now)
    case let error?: place.fail("expected \(path) to be unreadable, but reading it fails otherwise: \(error.message)")
    }
}

/// Expects that a file's content can be read.
public func expectReadable(
    _ path: String, in container: TestContainer = AppContainer.current, file: StaticString = #filePath,
    fileID: String = #fileID, line: Int = #line, column: Int = #column
) {
    guard let error = readingFails(container.whole(path)) else { return }
    Place(file: file, fileID: fileID, line: line, column: column)
        .fail("expected \(path) to be readable, but it is not: \(error.message)")
}

/// Expects that a file or directory is not in a backup: by its own mark, or because of where it lies.
public func expectExcluded(
    _ path: String, in container: TestContainer = AppContainer.current, file: StaticString = #filePath,
    fileID: String = #fileID, line: Int = #line, column: Int = #column
) async throws {
    guard try await container.inspect(path).backup == "included" else { return }
    Place(file: file, fileID: fileID, line: line, column: column)
        .fail("expected \(path) to be excluded from backups, but it is included")
}

/// Expects that a file or directory is in a backup.
public func expectIncluded(
    _ path: String, in container: TestContainer = AppContainer.current, file: StaticString = #filePath,
    fileID: String = #fileID, line: Int = #line, column: Int = #column
) async throws {
    let inspection = try await container.inspect(path)
    guard inspection.backup != "included" else { return }
    Place(file: file, fileID: fileID, line: line, column: column)
        .fail("expected \(path) to be in a backup, but it is \(inspection.backup)")
}

/// Expects that a purge has removed a file or directory, or the entry of `Library/Caches` or `tmp` that it lay in.
public func expectPurged(
    _ path: String, in container: TestContainer = AppContainer.current, file: StaticString = #filePath,
    fileID: String = #fileID, line: Int = #line, column: Int = #column
) async throws {
    let place = Place(file: file, fileID: fileID, line: line, column: column)
    guard (try? HostPath.status(container.whole(path), following: false)) == nil else {
        place.fail("expected \(path) to be purged, but it is there")
        return
    }
    let relative = container.relative(path)
    let wasPurged = try await container.ownEvents().contains { event in
        guard event.event == .purged, event.app == container.app, let purged = event.path else { return false }
        return HostPath.rest(of: relative, in: purged) != nil
    }
    if !wasPurged { place.fail("expected \(path) to be purged, but it went without a purge, or never was there") }
}

/// Expects that something has happened on the device since the test began. That it was unlocked and the app mounted for
/// the test was before.
public func expectEvent(
    _ name: Event.Name, in container: TestContainer = AppContainer.current, file: StaticString = #filePath,
    fileID: String = #fileID, line: Int = #line, column: Int = #column
) async throws {
    let events = try await container.ownEvents()
    guard !events.contains(where: { $0.event == name }) else { return }
    Place(file: file, fileID: fileID, line: line, column: column)
        .fail(
            "expected the event \(name.rawValue), but "
                + (events.isEmpty
                    ? "nothing has happened on the device since the test began"
                    : "since the test began there were only: \(events.map(\.event.rawValue))"))
}

extension TestContainer {
    /// The whole path of one that may be relative to the home.
    fileprivate func whole(_ path: String) -> String { path.hasPrefix("/") ? path : self.path(path) }
}

/// Opens a file and reads its first byte.
/// - Returns: why that fails; nil when it does not.
private func readingFails(_ path: String) -> SystemError? {
    do throws(SystemError) {
        _ = try Descriptor.open(path: path, flags: O_RDONLY).readToEnd(limit: 1)
        return nil
    } catch {
        // There is more than was asked for.
        return error == .fileTooLarge ? nil : error
    }
}
