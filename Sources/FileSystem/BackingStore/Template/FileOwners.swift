// The owners of a device's files, on a host whose users are others.

import Glibc
import Platform

/// Gives files another owner than they had.
struct FileOwners {
    private let from: (user: uid_t, group: gid_t)?
    private let to: (user: uid_t, group: gid_t)

    /// The files of the exported device's owner go to the user who imports. Others keep their numbers where this
    /// process may give them, which root's may; else theirs go to that user too.
    init(importedFrom owner: uid_t, group: gid_t) {
        from = geteuid() == 0 ? (owner, group) : nil
        to = (geteuid(), getegid())
    }

    /// Everything goes to one user.
    init(all user: uid_t, group: gid_t) {
        from = nil
        to = (user, group)
    }

    func user(_ user: uid_t) -> uid_t { from.map { $0.user == user } ?? true ? to.user : user }

    func group(_ group: gid_t) -> gid_t { from.map { $0.group == group } ?? true ? to.group : group }

    /// The registry with those owners.
    func registry(_ registry: AppRegistry) -> AppRegistry {
        AppRegistry(
            apps: registry.apps.map { $0.owned(by: user($0.owner), group: group($0.ownerGroup)) },
            waiting: registry.waiting.map { container in
                WaitingContainer(
                    kind: container.kind, identifier: container.identifier, uuid: container.uuid,
                    owner: user(container.owner), ownerGroup: group(container.ownerGroup), groups: container.groups)
            })
    }
}

extension InstalledApp {
    fileprivate func owned(by owner: UInt32, group: UInt32) -> InstalledApp {
        InstalledApp(
            identifier: identifier, place: place, bundleName: bundleName, displayName: displayName, version: version,
            build: build, executable: executable, sharesDocuments: sharesDocuments, signature: signature,
            bundle: bundle, data: data, groups: groups, iCloud: iCloud, owner: owner, ownerGroup: group)
    }
}
