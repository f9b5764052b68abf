// The sandbox: pure functions from facts to the rule that refuses a call. No I/O, no clock, no state.
// All answers are written out as tables in Tests/Model/SandboxPolicyTests/Fixtures/matrix.txt.

public import SandboxModel

/// The sandbox's decisions. Each function answers nil for "go ahead", or the rule that refuses.
///
/// A call that touches several nodes asks several questions; `SandboxPolicy+Rename.swift` joins those of rename and
/// exchange. The kernel has checked the mode bits before.
public enum SandboxPolicy {
    /// May this be done to a node of this zone?
    ///
    /// - Parameter zone: for an operation that gives a name (``Operation/givesName``) the zone of the directory, for
    ///   every other the zone of the node itself. Removing a node does not ask its directory.
    public static func refusal(of operation: Operation, in zone: Zone) -> Rule? {
        switch operation {
        case .inspect, .read: nil
        case .write, .truncate: changeRefusal(in: zone)
        case .changeMode, .changeOwner, .changeTimes, .setAttribute, .removeAttribute, .setFlags:
            changeRefusal(in: zone)
        case .remove, .renameFrom: removalRefusal(in: zone)
        case .linkFrom: linkRefusal(in: zone)
        case .create, .makeDirectory, .makeSymbolicLink, .makeNode, .linkInto, .renameInto: namingRefusal(in: zone)
        }
    }

    /// May something get this name in a directory of this zone? Asked besides the question of the operation, of each
    /// one that gives a name.
    public static func refusal(ofName name: FileName, in zone: Zone) -> Rule? {
        zone == .documents && name == HomeLayout.inbox ? .inboxName : nil
    }

    /// May a name be given that belongs to a zone? Asked besides, of the zone that an entry of that name has: only a
    /// directory that is made there can be the system's own, where that is missing.
    public static func refusal(of operation: Operation, naming zone: Zone) -> Rule? {
        zone == .standardDirectory && operation != .makeDirectory ? .standardDirectory : nil
    }

    /// A change of the node itself: its content, mode, owner, times or attributes.
    private static func changeRefusal(in zone: Zone) -> Rule? {
        switch zone {
        case .device, .home, .containers: .topLevel
        case .bundle: .sealedBundle
        case .metadata: .metadata
        case .standardDirectory, .documents, .container: nil
        case .inbox, .inboxItem: .inbox
        case .cacheTag: .cacheTag
        }
    }

    /// The node's name is taken away. The Inbox goes only when the system takes it; what is in it may go.
    private static func removalRefusal(in zone: Zone) -> Rule? {
        switch zone {
        case .device, .home, .containers: .topLevel
        case .bundle: .sealedBundle
        case .metadata: .metadata
        case .standardDirectory, .documents: .standardDirectory
        case .inbox: .inbox
        case .inboxItem, .container: nil
        case .cacheTag: .cacheTag
        }
    }

    /// A further name elsewhere, by which the node could be changed.
    private static func linkRefusal(in zone: Zone) -> Rule? {
        switch zone {
        case .inboxItem: .inbox
        default: removalRefusal(in: zone)
        }
    }

    /// A name is given in a directory of the zone.
    private static func namingRefusal(in zone: Zone) -> Rule? {
        switch zone {
        case .device, .home, .containers: .topLevel
        case .bundle: .sealedBundle
        case .metadata: .metadata
        case .standardDirectory, .documents, .container: nil
        case .inbox, .inboxItem: .inbox
        // No directory, so that nothing is ever named in it.
        case .cacheTag: .cacheTag
        }
    }
}
