// The devices that are on.

import FoundationEssentials

extension Device {
    /// The devices that processes of this user serve now, lasting and temporary, by their paths. Starts none.
    ///
    /// ```swift
    /// for served in await Device.served() where served.state == "unlocked" {
    ///     print(served.device ?? "?", served.mounts.map(\.mountPoint))
    /// }
    /// ```
    ///
    /// Two hundred are asked at once, so that one that does not answer costs no more than `patience`: it is in the list
    /// too, as ``ListedDevice/notAnswering``. Of root's program these are the devices that root serves, whoever owns
    /// them.
    ///
    /// - Parameter patience: the time that each process has to answer.
    public static func served(patience: Duration = .seconds(2)) async -> [ListedDevice] {
        await ServedDevices(patience: patience).all(environment: ProcessInfo.processInfo.environment)
    }
}
