// The container of the test that is running.

/// What a test with the trait ``Testing/Trait/appContainer(app:passcode:groups:iCloud:capacity:isUnlocked:isRunning:)``,
/// or a test case derived from ``AppContainerTestCase``, has to itself.
public enum AppContainer {
    @TaskLocal static var container: TestContainer?

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
