// The trait that gives a test of Swift Testing a container of its own.

import AppContainer
public import Testing

extension Trait where Self == ContainerTrait {
    /// Gives each test a device of its own, with the app installed and mounted: ``AppContainer/current``.
    ///
    /// On a suite, each test in it gets a device. The device is a copy of a template that is made once. It is deleted
    /// when the test ends, however it ends.
    ///
    /// A failure of the test has a comment for each call that was refused and that no `expectRefused` or
    /// `expectUnreadable` asked for: the call, the rule and the advice. Each is told once, by the first failure after
    /// it. The events of the test are attached in a file named after the test and its arguments.
    ///
    /// - Parameters:
    ///   - app: the path of a `.app` directory or an `.ipa`.
    ///   - passcode: nil for none; such a device cannot be locked.
    ///   - groups: identifiers of group containers that the app is entitled to.
    ///   - iCloud: identifiers of iCloud containers that the app is entitled to.
    ///   - capacity: in bytes; nil for that of the host's filesystem.
    ///   - isUnlocked: whether the device is unlocked when the test begins. Otherwise it is before first unlock.
    ///   - isRunning: whether the app counts as running during the test, so that nothing of it is purged. See
    ///     ``TestContainer/whileNotRunning(isolation:_:)`` for a part of a test.
    ///   - capricious: the seed of a device that disobeys at times, with an event `disobeyed`; nil for one that obeys.
    public static func appContainer(
        app: String, passcode: String? = nil, groups: [String] = [], iCloud: [String] = [], capacity: Int? = nil,
        isUnlocked: Bool = true, isRunning: Bool = true, capricious: String? = nil
    ) -> Self {
        ContainerTrait(
            ContainerOptions(
                .app(app), passcode: passcode, groups: groups, iCloud: iCloud, capacity: capacity,
                isUnlocked: isUnlocked, isRunning: isRunning, capricious: capricious))
    }

    /// Gives each test a copy of a prepared device that is shut down.
    ///
    /// - Parameters:
    ///   - device: the path of its directory.
    ///   - app: the identifier of the app to mount; nil for the device's only one.
    ///   - passcode: the device's passcode.
    ///   - isUnlocked: whether the device is unlocked when the test begins. Otherwise it is before first unlock.
    ///   - isRunning: whether the app counts as running during the test, so that nothing of it is purged.
    public static func appContainer(
        copyOf device: String, app: String? = nil, passcode: String? = nil, isUnlocked: Bool = true,
        isRunning: Bool = true
    ) -> Self {
        ContainerTrait(
            ContainerOptions(
                .device(device, app: app), passcode: passcode, isUnlocked: isUnlocked, isRunning: isRunning))
    }
}

/// See ``Testing/Trait/appContainer(app:passcode:groups:iCloud:capacity:isUnlocked:isRunning:capricious:)``.
public struct ContainerTrait: TestTrait, SuiteTrait, TestScoping {
    public let options: ContainerOptions
    public var isRecursive: Bool { true }

    init(_ options: ContainerOptions) {
        self.options = options
    }

    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        guard isInnermost(of: test) else { return try await function() }
        try await DeviceLimit.shared.withDevice {
            let container = try await TestDevices.shared.container(options)
            let issues = IssueCount()
            let telling: IssueHandlingTrait = .compactMapIssues { issue in
                guard issue.isFailure else { return issue }
                issues.increment()
                var issue = issue
                issue.comments += container.refusedCalls().map { Comment(rawValue: $0) }
                return issue
            }
            do {
                try await AppContainer.with(container) {
                    try await telling.provideScope(for: test, testCase: testCase, performing: function)
                }
            } catch {
                await Self.end(container, of: test, testCase, failed: true)
                throw error
            }
            await Self.end(container, of: test, testCase, failed: issues.count > 0)
        }
    }

    /// Whether no other trait of this kind is nearer to the test. The nearest applies: a test with two devices could
    /// wait for the second while it holds the first, as all other tests do.
    private func isInnermost(of test: Test) -> Bool {
        let nearest = test.traits.compactMap { $0 as? ContainerTrait }.last
        return AppContainer.container == nil && (nearest?.options ?? options) == options
    }

    private static func end(
        _ container: TestContainer, of test: Test, _ testCase: Test.Case?, failed: Bool
    ) async {
        // In a task of its own: a test that exceeded its time limit is cancelled, and its events matter most.
        if failed, let events = await Task(operation: { await container.eventLines() }).value {
            Attachment.record(
                Array(events.utf8), named: AttachmentName.of(test, testCase), sourceLocation: test.sourceLocation)
        }
        for file in OpenFiles.below(container.home) {
            Issue.record(
                "\(file) is still open at the end of the test; close it before", severity: .warning,
                sourceLocation: test.sourceLocation)
        }
        await container.device.end()
    }
}
