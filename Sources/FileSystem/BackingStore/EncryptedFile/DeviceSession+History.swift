// Sessions as the content of files looks at them.

extension DeviceSession {
    /// What tells a page that may be half written from one that is whole.
    public var history: SessionHistory {
        SessionHistory(current: number, killed: Set(killed), powerLost: Set(powerLost), times: times)
    }
}
