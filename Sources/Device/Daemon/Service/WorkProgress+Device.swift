// The progress of work on a device, as the control API reports it.

public import AppContainer
public import BackingStore

extension WorkProgress {
    /// - Parameter activity: the work, for people, such as "installing".
    public init(activity: String, _ progress: DeviceProgress) {
        let unit: Unit =
            switch progress.unit {
            case .bytes: .bytes
            case .files: .files
            }
        self.init(activity: activity, unit: unit, done: progress.completed, total: progress.total)
    }
}
