// The mark that keeps a file out of backups, in every form that tools know it by, and its consequence for each path.
// One attribute of the backing file or directory holds the fact; each form is read from that attribute and changes it.

import BackingStore
import Platform
import SandboxModel
import SandboxPolicy

/// Reads and changes backup marks.
///
/// Lock rule: it has no state of its own. The caller of each method keeps the node's place, and holds no open lock.
struct BackupMarks {
    let accounting: SpaceAccounting

    // MARK: Reading

    /// Whether a backup includes a node, by its first name, and which directory excludes it.
    func inclusion(of node: Node) throws(Fault) -> BackupInclusion {
        if node.zone == .bundle {
            // A bundle that an update has replaced has no path, and is in no backup either.
            return isNeverInBackup(node) ? .excluded : .excludedBy(node.home.map { [$0.bundleName] } ?? [])
        }
        let (steps, home) = path(to: node)
        // A node without a name answers for itself.
        guard let home else { return try isMarked(node) ? .excluded : .included }
        let path = steps.map(\.name)
        return try SandboxPolicy.inclusion(
            of: path, never: SandboxPolicy.neverInBackup(path, bundle: home.bundleName)
        ) { (count) throws(Fault) in try isMarked(steps[count - 1].node) }
    }

    /// The names and nodes that lead from an app's home to a node.
    /// - Returns: no home for a node that lies in none any more.
    private func path(to node: Node) -> (steps: [(name: FileName, node: Node)], home: Home?) {
        accounting.openFiles.table.withNames(of: node) { node in
            var steps: [(name: FileName, node: Node)] = []
            var candidate: Node? = node
            while let next = candidate {
                if next.kind == .home { return (steps.reversed(), next.ownHome) }
                guard let name = next.name else { break }
                steps.append((name, next))
                candidate = next.parent
            }
            return ([], nil)
        }
    }

    /// Whether every form of the mark shows a node as excluded.
    func isExcluded(_ node: Node) throws(Fault) -> Bool {
        if isNeverInBackup(node) { return true }
        return try isMarked(node)
    }

    /// Whether the node is one of the places that are in no backup and show every form without a mark.
    private func isNeverInBackup(_ node: Node) -> Bool {
        switch node.zone {
        case .bundle: node.rare?.sealed == SealedBundle.top
        case .containers: node.name == HomeLayout.iCloud
        case .standardDirectory: node.purgeableDirectory != nil
        case .metadata: true
        case .device, .home, .documents, .inbox, .inboxItem, .cacheTag, .container: false
        }
    }

    /// Whether a node has the mark itself. A mark on the bundle's backing copy does not count: the seal does not cover
    /// it.
    private func isMarked(_ node: Node) throws(Fault) -> Bool {
        guard node.kind == .file || node.kind == .directory, node.zone != .bundle else { return false }
        let place = try accounting.openFiles.inodePlace(of: node)
        // Listing needs no permission; reading a value needs the permission to read the file.
        return try onHost { () throws(SystemError) in
            try place.withAttributes { holder throws(SystemError) in try holder.names().contains(BackupMarks.markName) }
        }
    }

    /// Whether copy programs should carry the mark along: where it was set, and can be set again.
    /// - Parameter names: the names of the host's attributes.
    func listsMark(of node: Node, _ names: [[UInt8]]) -> Bool {
        names.contains(BackupMarks.markName) && node.zone != .bundle && !isNeverInBackup(node)
    }

    private static let markName = Array(BackupMark.attributeName.utf8)

    // MARK: Changing

    /// Sets a form of the mark.
    ///
    /// - Parameter mustExist: for XATTR_REPLACE. XATTR_CREATE is not checked: a copy that sets one listed
    ///   form has made the other.
    /// - Throws: EINVAL for a value that the form cannot have; as ``setExcluded(_:_:by:)``.
    func set(_ form: BackupMark.Form, to value: [UInt8], mustExist: Bool, of node: Node) throws(Fault) {
        guard let setting = form.setting(value) else {
            if !isNeverInBackup(node) || node.zone == .metadata { try node.zone.permit(.setAttribute) }
            throw .system(.invalid)
        }
        if setting == .exclude, mustExist, try !isExcluded(node) {
            try node.zone.permit(.setAttribute)
            throw .system(.noAttribute)
        }
        try setExcluded(setting == .exclude, node, by: .setAttribute)
    }

    /// Marks a node, or removes the mark if there is one.
    ///
    /// - Parameter operation: the operation that the policy is asked about. Setting the present state succeeds even
    ///   where the policy refuses a change.
    /// - Throws: `refused` by the node's zone or kind, or because the node is never in a backup; the host's error.
    func setExcluded(_ isExcluded: Bool, _ node: Node, by operation: SandboxModel.Operation) throws(Fault) {
        if isNeverInBackup(node) {
            // Not the system's own record: after a call that succeeds, the kernel would write its time of change.
            if node.zone == .metadata { try node.zone.permit(operation) }
            if isExcluded { return }
            throw .refused(.neverInBackup)
        }
        let wasExcluded = try isMarked(node)
        do throws(Fault) {
            try node.zone.permit(operation)
        } catch {
            if operation != .removeAttribute, wasExcluded == isExcluded { return }
            throw error
        }
        guard node.holdsAttributes else { throw .refused(node.ruleAboutAttributes) }
        guard wasExcluded != isExcluded else { return }
        let place = try accounting.openFiles.inodePlace(of: node)
        try onHost { () throws(SystemError) in
            try accounting.changingAttributes(of: node, at: place) { () throws(SystemError) in
                try place.withPermission(0o200) { () throws(SystemError) in try place.mark(isExcluded) }
            }
        }
    }
}
