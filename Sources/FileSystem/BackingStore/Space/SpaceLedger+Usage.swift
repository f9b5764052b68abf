// The space available for a usage. Asks for the purgeable bytes, so it is called with no lock held.

public import SandboxModel

extension SpaceLedger {
    /// Bytes that purging everything would free.
    public var purgeable: Int64 { reliever?.purgeable ?? 0 }

    /// Bytes available for a usage.
    public func available(for usage: SpaceUsage) -> Int64 {
        let figures = self.figures
        switch usage {
        case .important: return min(figures.available + purgeable, figures.total)
        // Beyond the high-water mark, other content would be purged to make space.
        case .opportunistic: return max(figures.available - highWater, 0)
        }
    }
}
