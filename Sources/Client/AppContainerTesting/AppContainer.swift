// The container of the running test.

import ContainerFoundation

/// The container of a test with the trait
/// ``Testing/Trait/appContainer(app:passcode:groups:iCloud:capacity:isUnlocked:isRunning:capricious:)``, or of a test
/// case derived from ``AppContainerTestCase``.
public enum AppContainer {
    @TaskLocal static var container: TestContainer?

    /// Runs a test's body with `container` as ``current``, and as the home of code that imports ContainerFoundation.
    static func with<Result>(
        _ container: TestContainer, isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
    ) async rethrows -> Result {
        try await $container.withValue(container) {
            try await ContainerHome.$current.withValue(container.home, operation: body)
        }
    }

    static func with<Result>(_ container: TestContainer, _ body: () throws -> Result) rethrows -> Result {
        try $container.withValue(container) {
            try ContainerHome.$current.withValue(container.home, operation: body)
        }
    }

    /// The container of the running test. Available in the test's task and its child tasks, but not in detached ones.
    public static var current: TestContainer {
        guard let container else {
            preconditionFailure(
                "AppContainer.current is there in a test with the trait .appContainer(app:) only, and not in a "
                    + "detached task: give the test the trait, or hand the container over")
        }
        return container
    }
}
