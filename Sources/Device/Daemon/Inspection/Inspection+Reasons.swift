// The part of an inspection that gives reasons: for the place in a backup, for the class, and who has the file open.

import AppContainer
import BackingStore
import ContainerVolume
import FoundationEssentials
import Platform
import SandboxModel
import SandboxPolicy

extension Inspection {
    /// - Parameter path: from the home.
    mutating func add(_ found: NodeInspection, at path: [FileName], of app: InstalledApp, state: DeviceState) {
        links = found.shown.linkCount
        modified = EventTime.text(HostTime(found.shown.modificationTime))
        attributes = found.attributes.map { ExtendedAttribute(name: $0.name, value: $0.value) }
        if found.shown.kind == .file, let name = path.last {
            openBy = FileHolder.all(ofInode: found.shown.inode, named: name).map {
                Holder(pid: $0.process.id, process: $0.process.name, writes: $0.writes)
            }
        }
        backupRule = Inspection.reason(of: found.inclusion, at: path, bundle: app.bundleName)
        guard let protection = found.protection else { return }
        protectionReason = Inspection.reason(
            of: protection, above: found.protectionAbove, isDirectory: found.shown.kind == .directory)
        guard found.shown.kind == .file else { return }
        wrappedBy = protection.keyWords
        classKeyAvailable = state.canOpen(protection)
    }

    private static func reason(of inclusion: BackupInclusion, at path: [FileName], bundle: FileName) -> String {
        let isNever = SandboxPolicy.neverInBackup(path, bundle: bundle) != nil
        switch inclusion {
        case .included: return "nothing excludes it: neither a mark, nor the place, nor a directory above it"
        case .excluded where isNever, .excludedBy where isNever: return Rule.neverInBackup.words
        case .excluded: return "it bears the mark of exclusion"
        case .excludedBy(let directory): return "\(directory.text) above it bears the mark of exclusion"
        }
    }

    private static func reason(
        of protection: ProtectionClass, above: ProtectionClass?, isDirectory: Bool
    ) -> String {
        switch (isDirectory, above) {
        case (true, nil): "the class that the app's home gives to new entries"
        case (true, protection): "new entries get the class that the directory above gives as well"
        case (true, _): "the class was set for this directory, and its new entries get it"
        case (false, protection): "its directory gives the class to new files"
        case (false, nil): "the class was set for this file"
        case (false, let given?): "the class was set for this file; its directory gives \(given.foundationName)"
        }
    }
}

extension Inspection.ExtendedAttribute {
    fileprivate init(name: [UInt8], value: [UInt8]) {
        let text = String(validating: value, as: UTF8.self)
        let isPlain = text?.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control } ?? false
        self.init(
            name: String(decoding: name, as: UTF8.self), value: isPlain ? text : nil,
            bytes: Data(value).base64EncodedString())
    }
}

extension ProtectionClass {
    /// The class key, and when it is there, in words.
    fileprivate var keyWords: String {
        switch self {
        case .complete: "the key of class A, which goes when the device locks"
        case .completeUnlessOpen: "the key pair of class B, whose private key goes when the device locks"
        case .completeUntilFirstUserAuthentication: "the key of class C, which is there from the first unlock on"
        case .none: "the key of class D, which is always there"
        }
    }
}
