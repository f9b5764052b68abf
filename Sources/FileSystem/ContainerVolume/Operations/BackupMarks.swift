// The mark that keeps a file out of backups, in every form that tools know it by, and its consequence for each path.
// One attribute of the backing file or directory holds the fact; each form is read from that attribute and changes it.

import BackingStore
import Platform
import SandboxModel
import SandboxPolicy

/// Reads and changes backup marks.
///
/// Lock rule: it has no state of its own. The caller of each method holds `names` and no open lock.
struct BackupMarks {
    let accounting: SpaceAccounting

    // MARK: Looking

    /// What a backup does with a node, by the name that it is found by. The caller holds `names`.
    func inclusion(of node: Node) throws(Fault) -> BackupInclusion {
        if node.zone == .bundle {
            // One that an update has replaced has no path any more, and is in no backup either.
            return isNeverInBackup(node) ? .excluded : .excludedBy(node.home.map { [$0.bundleName] } ?? [])
        }
        let (way, home) = wayFromHome(to: node)
        // What has no name any more answers for itself.
        guard let home else { return try isMarked(node) ? .excluded : .included }
        let path = way.map(\.name)
        return try SandboxPolicy.inclusion(
            of: path, never: SandboxPolicy.neverInBackup(path, bundle: home.bundleName)
        ) { (count) throws(Fault) in try isMarked(way[count - 1].node) }
    }

    /// The names and nodes that lead from an app's home to a node.
    /// - Returns: no home for what lies in none any more.
    private func wayFromHome(to node: Node) -> (way: [(name: FileName, node: Node)], home: Home?) {
        accounting.openFiles.table.withNames(of: node) { node in
            var way: [(name: FileName, node: Node)] = []
            var candidate: Node? = node
            while let next = candidate {
                if next.kind == .home { return (way.reversed(), next.rare?.home) }
                guard let name = next.name else { break }
                way.append((name, next))
                candidate = next.parent
            }
            return ([], nil)
        }
    }

    /// Whether every form of the mark answers for a node as excluded. The caller holds `names`.
    func isExcluded(_ node: Node) throws(Fault) -> Bool {
        if isNeverInBackup(node) { return true }
        return try isMarked(node)
    }

    /// Whether it is one of the places that the forms answer for by themselves, with what is in them.
    private func isNeverInBackup(_ node: Node) -> Bool {
        switch node.zone {
        case .bundle: node.rare?.sealed == SealedBundle.top
        case .containers: node.name == Home.iCloudDirectory
        case .standardDirectory: node.purgeableDirectory != nil
        case .device, .home, .metadata, .documents, .inbox, .inboxItem, .cacheTag, .container: false
        }
    }

    /// Whether a node bears the mark itself. What the bundle's backing copy bears counts for nothing: it is not sealed.
    private func isMarked(_ node: Node) throws(Fault) -> Bool {
        guard node.kind == .file || node.kind == .directory, node.zone != .bundle else { return false }
        let place = try accounting.openFiles.attributePlace(of: node)
        // A list can be had whatever the modes are; a value by those only who may read what it is of.
        return try onHost { () throws(SystemError) in
            try place.withAttributes { holder throws(SystemError) in try holder.names().contains(BackupMarks.markName) }
        }
    }

    /// Whether copying tools should carry the mark along: where it was set, and can be set anew.
    /// - Parameter names: of the attributes that the host has.
    func listsMark(of node: Node, _ names: [[UInt8]]) -> Bool {
        names.contains(BackupMarks.markName) && node.zone != .bundle && !isNeverInBackup(node)
    }

    private static let markName = Array(BackupMark.attributeName.utf8)

    // MARK: Changing

    /// Sets a form of the mark. The caller holds `names`.
    ///
    /// - Parameter mustExist: for XATTR_REPLACE. With XATTR_CREATE there is nothing to refuse: a copy that sets one
    ///   listed form has made the other.
    /// - Throws: EINVAL for a value that the form cannot have; as ``setExcluded(_:_:by:)``.
    func set(_ form: BackupMark.Form, to value: [UInt8], mustExist: Bool, of node: Node) throws(Fault) {
        guard let setting = form.setting(value) else {
            if !isNeverInBackup(node) { try node.zone.permit(.setAttribute) }
            throw .system(.invalid)
        }
        if setting == .exclude, mustExist, try !isExcluded(node) {
            try node.zone.permit(.setAttribute)
            throw .system(.noAttribute)
        }
        try setExcluded(setting == .exclude, node, by: .setAttribute)
    }

    /// Marks a node, or takes the mark away if there is one. The caller holds `names`.
    ///
    /// - Parameter operation: by which it is done. Setting what is so already succeeds also where nothing may be set.
    /// - Throws: `refused` by the node's zone, by what it is, or because it can be in no backup; the host's error.
    func setExcluded(_ isExcluded: Bool, _ node: Node, by operation: SandboxModel.Operation) throws(Fault) {
        if isNeverInBackup(node) {
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
        let place = try accounting.openFiles.attributePlace(of: node)
        try onHost { () throws(SystemError) in
            try accounting.changingAttributes(of: node, at: place) { () throws(SystemError) in
                try place.withPermission(0o200) { () throws(SystemError) in try place.mark(isExcluded) }
            }
        }
    }
}
