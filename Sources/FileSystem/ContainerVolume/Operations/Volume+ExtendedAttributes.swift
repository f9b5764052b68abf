// getxattr, setxattr, removexattr and listxattr. Values are the host's own `user.` attributes, or computed.

import BackingStore
import Glibc
import Platform
public import SandboxModel

extension Volume {
    /// XATTR_CREATE of <linux/xattr.h>, which Glibc's module does not have.
    private static let createFlag: Int32 = 1
    /// XATTR_REPLACE.
    private static let replaceFlag: Int32 = 2

    /// The value of an attribute.
    /// - Throws: `refused` for a name of the system's; ENODATA when the attribute is not there; EOPNOTSUPP for a
    ///   namespace that is not served.
    public func attribute(_ name: [UInt8], of node: NodeID) throws(Fault) -> [UInt8] {
        // The kernel asks for `security.capability` before each write: the answer needs no node.
        switch ExtendedAttributeName(name) {
        case .capability, .computed: throw .system(.noAttribute)
        case .system: throw .refused(.systemAttribute)
        case .unsupported: throw .system(.notSupported)
        case .tooLong: throw .system(.range)
        case .capacity(let usage):
            guard try self.node(node).kind == .home else { throw .system(.noAttribute) }
            return Array(String(context.space.available(for: usage)).utf8)
        case .protectedData:
            guard try self.node(node).kind == .home else { throw .system(.noAttribute) }
            return Array(ProtectedData(in: context.deviceState).rawValue.utf8)
        case .protection:
            return try keepingPlace(of: node) { (node) throws(Fault) in
                guard let protection = try classes.protection(of: node) else {
                    throw .system(.noAttribute)
                }
                return Array(protection.foundationName.utf8)
            }
        case .mark(let form):
            return try keepingPlace(of: node) { (node) throws(Fault) in
                guard try marks.isExcluded(node) else { throw .system(.noAttribute) }
                return form.canonicalValue
            }
        case .inclusion:
            return try keepingPlace(of: node) { (node) throws(Fault) in
                guard node.kind != .device else { throw .system(.noAttribute) }
                return try marks.inclusion(of: node).attributeValue
            }
        case .stored(let stored):
            return try keepingPlace(of: node) { (node) throws(Fault) in
                guard node.holdsAttributes else { throw .system(.noAttribute) }
                return try value(stored, of: node)
            }
        }
    }

    /// The value of an attribute that the host stores. The caller keeps the node's place.
    private func value(_ stored: [UInt8], of node: Node) throws(Fault) -> [UInt8] {
        let place = try openFiles.inodePlace(of: node)
        return try onHost { () throws(SystemError) in
            try place.withAttributes { holder throws(SystemError) in
                try holder.value(of: stored)
            }
        }
    }

    /// Sets an attribute.
    ///
    /// - Parameter flags: XATTR_CREATE, XATTR_REPLACE or 0.
    /// - Throws: `refused` by the node's zone, unless the attribute has the value already; ENOSPC when the host does
    ///   not hold a value of that size.
    public func setAttribute(_ name: [UInt8], to value: [UInt8], flags: Int32, of node: NodeID) throws(Fault) {
        try keepingPlace(of: node) { (node) throws(Fault) in
            let stored: [UInt8]
            switch ExtendedAttributeName(name) {
            case .stored(let name): stored = name
            case .protection:
                return try classes.setProtection(of: node, to: value, mayReplace: flags & Volume.createFlag == 0)
            case .mark(let form):
                return try marks.set(form, to: value, mustExist: flags & Volume.replaceFlag != 0, of: node)
            case .computed, .inclusion, .capacity, .protectedData: throw .refused(.computedAttribute)
            case .system: throw .refused(.systemAttribute)
            case .capability, .unsupported: throw .system(.notSupported)
            case .tooLong: throw .system(.range)
            }
            guard node.holdsAttributes else { throw .refused(node.ruleAboutAttributes) }
            do throws(Fault) {
                try node.zone.permit(.setAttribute)
            } catch {
                // A copy program sets every attribute, and must not fail on one that has the value already.
                if let present = try? self.value(stored, of: node), present == value { return }
                throw error
            }
            let place = try openFiles.inodePlace(of: node)
            do throws(SystemError) {
                try accounting.changingAttributes(of: node, at: place) { () throws(SystemError) in
                    try place.withAttributes { holder throws(SystemError) in
                        try holder.set(stored, to: value, flags: flags)
                    }
                }
            } catch {
                throw .system(error.code == E2BIG || error == .range ? .noSpace : error)
            }
        }
    }

    /// - Throws: `refused` by the node's zone; ENODATA when the attribute is not there.
    public func removeAttribute(_ name: [UInt8], of node: NodeID) throws(Fault) {
        try keepingPlace(of: node) { (node) throws(Fault) in
            let stored: [UInt8]
            switch ExtendedAttributeName(name) {
            case .stored(let name): stored = name
            case .protection: return try classes.removeProtection(of: node)
            case .mark: return try marks.setExcluded(false, node, by: .removeAttribute)
            case .computed, .inclusion, .capacity, .protectedData: throw .refused(.computedAttribute)
            case .system: throw .refused(.systemAttribute)
            // The kernel removes `security.capability` before a write, and takes this error for success.
            case .capability, .unsupported: throw .system(.notSupported)
            case .tooLong: throw .system(.range)
            }
            guard node.holdsAttributes else { throw .refused(node.ruleAboutAttributes) }
            try node.zone.permit(.removeAttribute)
            let place = try openFiles.inodePlace(of: node)
            try onHost { () throws(SystemError) in
                try accounting.changingAttributes(of: node, at: place) { () throws(SystemError) in
                    try place.withAttributes { holder throws(SystemError) in try holder.remove(stored) }
                }
            }
        }
    }

    /// The names that copying tools should carry along: each attribute once, under its `user.` name.
    public func attributeNames(of node: NodeID) throws(Fault) -> [[UInt8]] {
        try keepingPlace(of: node) { (node) throws(Fault) in
            guard node.holdsAttributes else { return [] }
            let place = try openFiles.inodePlace(of: node)
            let all = try onHost { () throws(SystemError) in
                try place.withAttributes { holder throws(SystemError) in try holder.names() }
            }
            var listed = all.filter { name in
                if case .stored(name) = ExtendedAttributeName(name) { return true }
                return false
            }
            // The places that are never in a backup have no mark to carry along.
            if marks.listsMark(of: node, all) { listed += BackupMark.listedNames }
            // A damaged file has no class, but its other attributes are listed.
            let listsProtection = (try? classes.listsProtection(of: node)) ?? false
            return listsProtection ? listed + [Array(ProtectionClass.attributeName.utf8)] : listed
        }
    }
}

private func ~= (pattern: [UInt8], value: [UInt8]) -> Bool { pattern == value }
