// Who refused a call.

import AppContainer

/// What a test expects to be refused by.
public enum Refusal: Hashable, Sendable {
    /// Any rule about places: the sealed bundle, the Inbox, the top level, the standard directories, ….
    case sandbox
    /// The file's protection class, in the device's present state.
    case dataProtection
    /// One rule, by the name that events and appcontainer(7) have for it, such as `inbox`.
    case rule(String)

    func matches(_ rule: String?) -> Bool {
        switch self {
        case .sandbox: rule != nil && rule != Refusal.dataProtectionRule
        case .dataProtection: rule == Refusal.dataProtectionRule
        case .rule(let name): rule == name
        }
    }

    private static let dataProtectionRule = "dataProtection"
}

extension Refusal: CustomStringConvertible {
    public var description: String {
        switch self {
        case .sandbox: "the sandbox"
        case .dataProtection: "data protection"
        case .rule(let name): "the rule \(name)"
        }
    }
}
