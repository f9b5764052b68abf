// The turns of a device that disobeys.

public import BackingStore
import Platform
public import SandboxModel

extension BootedDevice {
    /// The decisions of this turn; nil on a device that obeys.
    public var caprice: Caprice? { directory.settings.capricious.map { Caprice($0) } }

    /// Ends a turn: from now on each decision is another. Where the device cannot record that, the next turn repeats
    /// this one.
    /// - Parameter deed: of the kind whose occasion it was.
    public func endTurn(of deed: Caprice.Deed) {
        guard caprice != nil else { return }
        try? directory.changeSettings(holding: lock) { settings in
            settings.capricious?.endTurn(of: deed)
        }
    }
}

extension StoredDevice {
    /// Checks the seed of a device that disobeys.
    /// - Throws: ``Complaint`` of kind `badRequest`.
    public static func requireUsable(seed: String?) throws(Complaint) {
        guard let seed, !Capriciousness.lengths.contains(seed.utf8.count) || seed.contains(where: \.isNewline) else {
            return
        }
        throw Complaint(
            .badRequest,
            "a seed is a line of \(Capriciousness.lengths.lowerBound) to "
                + "\(Capriciousness.lengths.upperBound) bytes; choose another")
    }
}
