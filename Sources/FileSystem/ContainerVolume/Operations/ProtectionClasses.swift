// Protection classes: the class of a file, the class that a directory gives, and changes of both.

import BackingStore
import Glibc
import Platform
import SandboxModel
import SandboxPolicy

/// Reads and changes the protection classes of nodes.
///
/// Lock rule: it has no state of its own; a class that is known is cached in the node (``KnownClass``). The caller of
/// each method keeps the node's place, and holds no open lock.
struct ProtectionClasses {
    let openFiles: OpenFileTable

    private var places: NodePlaces { openFiles.places }
    private var context: StoreContext { openFiles.context }

    // MARK: Reading

    /// A file's class, or the class that a directory gives; nil for a node without a class.
    func protection(of node: Node) throws(Fault) -> ProtectionClass? {
        guard node.hasProtection else { return nil }
        if node.isDirectory { return try protection(in: node) }
        if let known = node.protection.value { return known }
        return try openFiles.lock(of: node).writing { () throws(Fault) in
            if case .encrypted(let file)? = node.open?.content { return node.protection.learn(file.protection) }
            let backing = try openFiles.openBacking(of: node, writing: false).0
            if let told = EncryptedFile.protection(of: backing.descriptor) { return node.protection.learn(told) }
            // No header: the creation was cut short, and opening the file gives its class; or the file is damaged.
            return try EncryptedFile.open(backing, isWritable: false, context: context).protection
        }
    }

    /// The class of new entries of a directory.
    func protection(in directory: Node) throws(Fault) -> ProtectionClass {
        if let known = directory.protection.value { return known }
        let place = try places.place(of: directory)
        let stored: [UInt8]
        do throws(SystemError) {
            stored = try place.storedClass()
        } catch .noAttribute {
            return directory.protection.learn(.standard)
        } catch {
            throw .system(error)
        }
        return directory.protection.learn(context.classGiven(stored: stored, inode: directory.inode))
    }

    /// The class that a node has by default: the class that its directory gives.
    private func inheritedProtection(of node: Node) throws(Fault) -> ProtectionClass {
        guard let (parent, _) = openFiles.table.location(of: node) else { return .standard }
        return try protection(in: parent)
    }

    /// Whether copying tools should carry the class along.
    func listsProtection(of node: Node) throws(Fault) -> Bool {
        guard node.zone != .metadata, let protection = try protection(of: node) else { return false }
        return try protection != inheritedProtection(of: node)
    }

    // MARK: Changing

    /// Sets the class by the attribute.
    ///
    /// - Parameters:
    ///   - value: the attribute's value; EINVAL if it names none of the four classes.
    ///   - mayReplace: false for XATTR_CREATE: EEXIST if the attribute is listed.
    func setProtection(of node: Node, to value: [UInt8], mayReplace: Bool) throws(Fault) {
        guard node.kind == .file || node.isDirectory else { throw .refused(node.ruleAboutAttributes) }
        let protection = ProtectionClass(attributeValue: value)
        do throws(Fault) {
            try node.zone.permit(.setAttribute)
        } catch {
            // A copy program sets every attribute, and must not fail on one that has the value already.
            if let protection, try self.protection(of: node) == protection, try listsProtection(of: node) { return }
            throw error
        }
        guard let protection else { throw .system(.invalid) }
        if !mayReplace, try listsProtection(of: node) { throw .system(.exists) }
        try changeClass(of: node, to: protection)
    }

    /// Sets the default class again.
    func removeProtection(of node: Node) throws(Fault) {
        guard node.kind == .file || node.isDirectory else { throw .refused(node.ruleAboutAttributes) }
        try node.zone.permit(.removeAttribute)
        try changeClass(of: node, to: try inheritedProtection(of: node))
    }

    /// The one place where a class changes. The caller has asked the rules of the node's zone.
    ///
    /// - Throws: `refused(.dataProtection)` when the device's state closes one of a file's two classes; the host's
    ///   error. The class does not change then.
    func changeClass(of node: Node, to new: ProtectionClass) throws(Fault) {
        if node.isDirectory { return try changeClassGiven(by: node, to: new) }
        guard let known = try protection(of: node), known != new else { return }
        try permitClassChange(from: known, to: new)
        let content = try openFiles.open(node, writing: true)
        defer { openFiles.close(node, writing: true) }
        guard case .encrypted(let file) = content else { throw .system(.badDescriptor) }
        // One change at a time, and not while a closing file writes its header.
        try openFiles.lock(of: node).writing { () throws(Fault) in
            let old = file.protection
            try permitClassChange(from: old, to: new)
            guard old != new else { return }
            defer {
                node.protection.set(file.protection)
                openFiles.recordProtected(node, file)
            }
            try file.changeProtection(to: new)
        }
    }

    private func permitClassChange(from old: ProtectionClass, to new: ProtectionClass) throws(Fault) {
        if let rule = SandboxPolicy.refusalOfClassChange(from: old, to: new, state: context.deviceState) {
            throw .refused(rule)
        }
    }

    /// Allowed in any state of the device, because it concerns only entries that are made later.
    private func changeClassGiven(by directory: Node, to new: ProtectionClass) throws(Fault) {
        try openFiles.lock(of: directory).writing { () throws(Fault) in
            guard try protection(in: directory) != new else { return }
            let place = try places.place(of: directory)
            try onHost { () throws(SystemError) in try place.storeClass(new) }
            directory.protection.set(new)
            for other in openFiles.table.otherViews(of: directory) { other.protection.set(new) }
        }
    }
}
