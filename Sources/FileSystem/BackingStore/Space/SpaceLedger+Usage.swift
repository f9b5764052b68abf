// How much can be stored for which usage. Asks for what is purgeable: call it with no lock held.

public import SandboxModel

extension SpaceLedger {
    /// Bytes that would come free if everything went that may.
    public var purgeable: Int64 { reliever?.purgeable ?? 0 }

    /// Bytes that can be stored for a usage.
    public func available(for usage: SpaceUsage) -> Int64 {
        let figures = self.figures
        switch usage {
        case .important: return min(figures.available + purgeable, figures.total)
        // What goes beyond would come to lie under the mark at which purging begins, and be made room for.
        case .opportunistic: return max(figures.available - highWater, 0)
        }
    }
}
