// The rules that can refuse a call.

import AppContainer

/// The rule or rules by which a test expects a refusal.
public enum Refusal: Hashable, Sendable {
    /// Any rule of the sandbox: sealed bundle, Inbox, top level, standard directories and so on.
    case sandbox
    /// The file's protection class in the current state of the device.
    case dataProtection
    /// A single rule by its name in events and appcontainer(7), such as `inbox`.
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
