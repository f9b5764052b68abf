// rename(2) and its exchange, which touch several nodes at once.

public import SandboxModel

extension SandboxPolicy {
    /// A name, and the zones of what has it and of the directory it is in.
    public struct Place {
        public let zone: Zone
        public let directory: Zone
        public let name: FileName

        public init(zone: Zone, directory: Zone, name: FileName) {
            self.zone = zone
            self.directory = directory
            self.name = name
        }
    }

    /// May a node be taken to another name?
    /// - Parameters:
    ///   - zone: of the node that is moved.
    ///   - directory: the zone of the directory that it is moved into.
    ///   - replaced: the zone of what has the new name now, which the move would remove.
    public static func refusalOfRename(
        of zone: Zone, to name: FileName, in directory: Zone, replacing replaced: Zone?
    ) -> Rule? {
        refusal(of: .renameFrom, in: zone) ?? refusal(of: .renameInto, in: directory)
            ?? refusal(ofName: name, in: directory) ?? replaced.flatMap { refusal(of: .remove, in: $0) }
    }

    /// May two nodes change places? Each is moved into the other's directory, so an exchange with something in the
    /// Inbox is refused from both sides.
    public static func refusalOfExchange(_ one: Place, _ other: Place) -> Rule? {
        refusalOfRename(of: one.zone, to: other.name, in: other.directory, replacing: nil)
            ?? refusalOfRename(of: other.zone, to: one.name, in: one.directory, replacing: nil)
    }
}
