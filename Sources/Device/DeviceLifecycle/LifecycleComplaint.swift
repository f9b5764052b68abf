// Errors of keys and containers in words for people.

import BackingStore
public import DataProtection
import Platform
public import SandboxModel

extension Complaint {
    /// The fault of a keybag in words, with the way out.
    /// - Parameter path: the device's, for the message.
    public init(_ fault: KeybagFault, path: String) {
        switch fault {
        case .wrongPasscode:
            self.init(.wrongPasscode, "wrong passcode for \(path); try again with the right one")
        case .newerVersion(let version):
            self.init(
                .newerFormat, "\(path)/Keybag was made by a newer version (format \(version)); update appcontainer")
        case .otherDevice:
            self.init(.damaged, "\(path)/Keybag is another device's; restore Keybag and UID.key from one copy")
        case .truncated:
            self.init(.damaged, "\(path)/Keybag is cut short; restore it from a copy of the device")
        case .damaged:
            self.init(.damaged, "\(path)/Keybag is damaged; restore it from a copy of the device")
        }
    }

    /// The fault of a call on the store in words: of kind `deviceLocked` for a class without a key, `notAllowed` for
    /// another rule, `damaged` for stored bytes, or of the kind of the host's error.
    /// - Parameter doing: what failed, as the beginning of the message.
    init(_ fault: Fault, doing: String) {
        switch fault {
        case .system(let error):
            self.init(error, doing: doing)
        case .refused(.dataProtection):
            self.init(.deviceLocked, "\(doing): the device is locked; unlock it first")
        case .refused(let rule):
            self.init(.notAllowed, "\(doing): refused by the rule \(rule.rawValue)")
        case .corrupt:
            self.init(.damaged, "\(doing): stored bytes are damaged")
        }
    }

    /// Runs calls of the store, and turns a fault into a complaint.
    /// - Parameter doing: what failed, as the beginning of the message.
    static func wrapFault<Result: ~Copyable>(
        _ doing: @autoclosure () -> String, _ body: () throws(Fault) -> Result
    ) throws(Complaint) -> Result {
        do throws(Fault) {
            return try body()
        } catch {
            throw Complaint(error, doing: doing())
        }
    }
}
