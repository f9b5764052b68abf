// Extended attributes, kept as the host's own `user.` attributes, and the flags of FS_IOC_GETFLAGS.

import BackingStore
import Glibc
import Platform
public import SandboxModel

/// The name of an attribute as the application gives it, and as the host keeps it.
///
/// `com.apple.NAME` and `user.com.apple.NAME` are one attribute, because Apple's names have no namespace and the host
/// takes none but `user.`.
private enum AttributeName {
    /// Kept on the host under this name.
    case stored([UInt8])
    case protection
    /// Of the home: how much can be stored for a usage.
    case capacity(SpaceUsage)
    /// Reserved for what this filesystem computes.
    case computed
    case capability
    case unsupported
    /// The host would not take it, with the prefix that it needs.
    case tooLong

    /// XATTR_NAME_MAX of <linux/limits.h>.
    private static let maximumLength = 255

    init(_ name: [UInt8]) {
        if name.elementsEqual(ProtectionClass.attributeName.utf8) {
            self = .protection
        } else if name.starts(with: "user.appcontainer.".utf8) {
            let usage = SpaceUsage.allCases.first { name.elementsEqual($0.attributeName.utf8) }
            self = usage.map { .capacity($0) } ?? .computed
        } else if name.starts(with: "user.".utf8), name.count > 5 {
            self = .stored(name)
        } else if name.starts(with: "com.apple.".utf8), name.count > 10 {
            self = .stored(Array("user.".utf8) + name)
        } else if name.elementsEqual("security.capability".utf8) {
            self = .capability
        } else {
            self = .unsupported
        }
        if case .stored(let name) = self, name.count > AttributeName.maximumLength { self = .tooLong }
    }
}

extension Volume {
    /// XATTR_CREATE of <linux/xattr.h>, which Glibc's module does not have.
    private static let createFlag: Int32 = 1

    /// - Throws: ENODATA when the attribute is not there; EOPNOTSUPP for a namespace that is not served.
    public func attribute(_ name: [UInt8], of node: NodeID) throws(Fault) -> [UInt8] {
        // The kernel asks for this one before it writes: the answer costs no look at the node.
        switch AttributeName(name) {
        case .capability, .computed: throw .system(.noAttribute)
        case .unsupported: throw .system(.notSupported)
        case .tooLong: throw .system(.range)
        case .capacity(let usage):
            guard try self.node(node).kind == .home else { throw .system(.noAttribute) }
            return Array(String(context.space.available(for: usage)).utf8)
        case .protection:
            return try names.reading { () throws(Fault) in
                guard let protection = try protection(of: try self.node(node)) else { throw .system(.noAttribute) }
                return Array(protection.foundationName.utf8)
            }
        case .stored(let stored):
            return try names.reading { () throws(Fault) in
                let node = try self.node(node)
                guard node.holdsAttributes else { throw .system(.noAttribute) }
                return try value(stored, of: node)
            }
        }
    }

    private func value(_ stored: [UInt8], of node: Node) throws(Fault) -> [UInt8] {
        let place = try holder(of: node)
        return try onHost { () throws(SystemError) in
            try place.withAttributes { holder throws(SystemError) in
                try holder.value(of: stored)
            }
        }
    }

    /// - Parameter flags: XATTR_CREATE, XATTR_REPLACE or 0.
    /// - Throws: `refused` by the node's zone, unless the attribute has the value already; ENOSPC when the host does
    ///   not hold a value of that size.
    public func setAttribute(_ name: [UInt8], to value: [UInt8], flags: Int32, of node: NodeID) throws(Fault) {
        try names.reading { () throws(Fault) in
            let node = try self.node(node)
            let stored: [UInt8]
            switch AttributeName(name) {
            case .stored(let name): stored = name
            case .protection:
                return try setProtection(of: node, to: value, mayReplace: flags & Volume.createFlag == 0)
            case .computed, .capacity: throw .refused(.computedAttribute)
            case .capability, .unsupported: throw .system(.notSupported)
            case .tooLong: throw .system(.range)
            }
            guard node.holdsAttributes else { throw .refused(.attributeHolder) }
            do throws(Fault) {
                try permit(.setAttribute, on: node.zone)
            } catch {
                // A copy that brings every attribute along must not fail on one that is there.
                if let present = try? self.value(stored, of: node), present == value { return }
                throw error
            }
            let place = try holder(of: node)
            do throws(SystemError) {
                try countingAttributes(of: node, at: place) { () throws(SystemError) in
                    try place.withAttributes { holder throws(SystemError) in
                        try holder.set(stored, to: value, flags: flags)
                    }
                }
            } catch {
                throw .system(error.code == E2BIG || error == .range ? .noSpace : error)
            }
        }
    }

    public func removeAttribute(_ name: [UInt8], of node: NodeID) throws(Fault) {
        try names.reading { () throws(Fault) in
            let node = try self.node(node)
            let stored: [UInt8]
            switch AttributeName(name) {
            case .stored(let name): stored = name
            case .protection: return try removeProtection(of: node)
            case .computed, .capacity: throw .refused(.computedAttribute)
            // To the kernel, which takes it away before a write, this is success.
            case .capability, .unsupported: throw .system(.notSupported)
            case .tooLong: throw .system(.range)
            }
            guard node.holdsAttributes else { throw .refused(.attributeHolder) }
            try permit(.removeAttribute, on: node.zone)
            let place = try holder(of: node)
            try onHost { () throws(SystemError) in
                try countingAttributes(of: node, at: place) { () throws(SystemError) in
                    try place.withAttributes { holder throws(SystemError) in try holder.remove(stored) }
                }
            }
        }
    }

    /// The names that copying tools should carry along: each attribute once, under its `user.` name.
    public func attributeNames(of node: NodeID) throws(Fault) -> [[UInt8]] {
        try names.reading { () throws(Fault) in
            let node = try self.node(node)
            guard node.holdsAttributes else { return [] }
            let place = try holder(of: node)
            let all = try onHost { () throws(SystemError) in
                try place.withAttributes { holder throws(SystemError) in try holder.names() }
            }
            let listed = all.filter { name in
                if case .stored(name) = AttributeName(name) { return true }
                return false
            }
            // A damaged file has no class to tell, and the other names all the same.
            let listsProtection = (try? self.listsProtection(of: node)) ?? false
            return listsProtection ? listed + [Array(ProtectionClass.attributeName.utf8)] : listed
        }
    }

    // MARK: Flags

    /// The flags of chattr(1) that an owner may set: no dump (0x40) and no access times (0x80).
    private static let settableFlags: UInt32 = 0x40 | 0x80

    public func inodeFlags(of node: NodeID) throws(Fault) -> UInt32 {
        try names.reading { () throws(Fault) in
            let place = try holder(of: try self.node(node))
            // chattr looks before it sets, and is to meet the refusal of that.
            if case .none = place { return 0 }
            return try onHost { () throws(SystemError) in
                try place.openForFlags().inodeFlags() & Volume.settableFlags
            }
        }
    }

    /// - Throws: EOPNOTSUPP for any other flag than those that an owner may set.
    public func setInodeFlags(_ flags: UInt32, of node: NodeID) throws(Fault) {
        try names.reading { () throws(Fault) in
            let node = try self.node(node)
            try permit(.setFlags, on: node.zone)
            guard flags & ~Volume.settableFlags == 0 else { throw .system(.notSupported) }
            let place = try holder(of: node)
            try onHost { () throws(SystemError) in
                let file = try place.openForFlags()
                try file.setInodeFlags(try file.inodeFlags() & ~Volume.settableFlags | flags)
            }
        }
    }
}

extension Place {
    func withAttributes<Result>(
        _ body: (AttributeHolder) throws(SystemError) -> Result
    ) throws(SystemError) -> Result {
        switch self {
        case .entry(let directory, let name): try body(AttributeHolder(name, in: directory.descriptor))
        case .descriptor(let node): try body(AttributeHolder(file: node.descriptor))
        case .none: throw .noAttribute
        }
    }

    fileprivate func openForFlags() throws(SystemError) -> Descriptor {
        switch self {
        case .entry(let directory, let name): try directory.descriptor.open(name, flags: O_RDONLY | O_NONBLOCK)
        case .descriptor(let node): try node.descriptor.reopen(flags: O_RDONLY | O_NONBLOCK)
        case .none: throw .notSupported
        }
    }
}

private func ~= (pattern: [UInt8], value: [UInt8]) -> Bool { pattern == value }
