// The rules in words for people, which `explain` prints of refusals and `inspect` of paths.

extension Rule {
    /// The rule in words.
    public var words: String {
        switch self {
        case .sealedBundle: "the bundle is signed: nothing writes to it, and it runs only as it was signed"
        case .topLevel: "at the home's top level, and in Groups and iCloud, nothing is created, renamed or removed"
        case .standardDirectory: "the system's own directories are neither removed nor renamed"
        case .metadata: "the container's metadata belongs to the system, and is read-only"
        case .inbox: "a delivered file can be read, removed and moved out of the Inbox; nothing else"
        case .inboxName:
            "in Documents nothing is named Inbox but the directory that appears with the first delivered file"
        case .deviceNode: "device nodes cannot be made; fifos and sockets can"
        case .attributeHolder: "symbolic links, fifos and sockets carry no extended attributes"
        case .computedAttribute: "the attribute is computed: it can be read but not set"
        case .systemAttribute: "attributes in com.apple.system. are the system's: no app reads, sets or removes them"
        case .neverInBackup: "the bundle, Library/Caches (of groups too), tmp and iCloud are never in a backup"
        case .cacheTag:
            "CACHEDIR.TAG in Library/Caches and tmp is the mount's own: it can be read, and nothing else has the name"
        case .dataProtection:
            "the file's protection class does not let its content be reached in the state that the device is in"
        }
    }

    /// The advice after a refusal: an alternative that is allowed.
    public var instead: String {
        switch self {
        case .sealedBundle: "write to Documents, Library or tmp; to change the bundle, install the app again"
        case .topLevel: "make it in Documents, Library or tmp, or in a container that the app is entitled to"
        case .standardDirectory: "remove what is in it, and leave the directory where it is"
        case .metadata: "leave it; nothing in it is the app's to change"
        case .inbox:
            "move the file out of the Inbox first, for instance to Documents: from then on it is like any other"
        case .inboxName: "take another name; `appcontainer deliver` makes the Inbox"
        case .deviceNode: "make a fifo or a socket, or use the devices of the host"
        case .attributeHolder: "set it on the file that the link leads to, or on a regular file or a directory"
        case .computedAttribute: "leave it; it follows from what is set elsewhere, such as a mark of exclusion"
        case .systemAttribute:
            "set a class by user.appcontainer.protection or appcontainer protect; take another name for anything else"
        case .neverInBackup: "keep what is to be backed up in Documents, or elsewhere in Library"
        case .cacheTag: "take another name, or mount without --cachedir-tag"
        case .dataProtection:
            "unlock the device; what is to be reached in other states needs another class: appcontainer protect"
        }
    }
}

extension Zone {
    /// The operations that the sandbox allows in the zone.
    public var words: String {
        switch self {
        case .device: "holds the homes of all apps"
        case .home, .containers: Rule.topLevel.words
        case .bundle: Rule.sealedBundle.words
        case .metadata: Rule.metadata.words
        case .standardDirectory: "\(Rule.standardDirectory.words); inside this one the app is free"
        case .documents: "\(Zone.standardDirectory.words), but \(Rule.inboxName.words)"
        case .inbox, .inboxItem: Rule.inbox.words
        case .cacheTag: Rule.cacheTag.words
        case .container: "the app's own: read, write, create and remove as modes allow"
        }
    }
}
