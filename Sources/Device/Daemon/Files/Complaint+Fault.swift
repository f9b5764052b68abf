// The one place where a fault of the filesystem becomes a complaint of the control API.

import ContainerVolume
import Platform
import SandboxModel

extension Complaint {
    /// The complaint about a request at a path of an app's home.
    /// - Parameter doing: the words before the path, such as "cannot exclude".
    init(_ failure: LookFailure, doing: String, _ path: [FileName]) {
        switch failure {
        case .complaint(let complaint): self = complaint
        case .fault(let fault): self.init(fault, doing: "\(doing) \(path.isEmpty ? "the home" : path.joined.shown)")
        }
    }

    private init(_ fault: Fault, doing: String) {
        switch fault {
        case .refused(.dataProtection): self.init(.deviceLocked, "\(doing) while the device is locked; unlock it first")
        case .refused(let rule): self.init(.notAllowed, "\(doing): \(rule.words); instead, \(rule.instead)")
        case .corrupt: self.init(.damaged, "\(doing): \(fault.words); restore it from a backup")
        case .system(.noEntry): self.init(.notFound, "\(doing): it is not there")
        case .system(.cancelled): self = .cancelled
        case .system(.notSupported):
            self.init(.unsuitableFile, "\(doing): it is neither a file nor a directory, and keeps no attribute")
        case .system(let error): self.init(named: error, doing: doing)
        }
    }
}

extension Fault {
    /// The reason, for a message.
    var words: String {
        switch self {
        case .refused(let rule): "refused by the rule \(rule.rawValue)"
        case .corrupt: "stored bytes are damaged"
        case .system(let error): error.message
        }
    }
}
