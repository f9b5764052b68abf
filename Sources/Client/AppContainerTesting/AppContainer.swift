// The container of the test that is running.

import ContainerFoundation

/// What a test with the trait ``Testing/Trait/appContainer(app:passcode:groups:iCloud:capacity:isUnlocked:isRunning:)``,
/// or a test case derived from ``AppContainerTestCase``, has to itself.
public enum AppContainer {
    @TaskLocal static var container: TestContainer?

    /// Runs a test's body in its container. Code that imports ContainerFoundation takes the container for its home there.
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

    /// The container of the test that is running. It is there in the test's own task, and in those that it starts but
    /// for detached ones.
    public static var current: TestContainer {
        guard let container else {
            preconditionFailure(
                "AppContainer.current is there in a test with the trait .appContainer(app:) only, and not in a detached "
                    + "task: give the test the trait, or hand the container over")
        }
        return container
    }
}
