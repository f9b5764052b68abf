// A part of a list, as an orchestrator asks for it.

import GRPCCore

/// Some entries of a list that is sorted by name, and the token for those behind them: the last name.
struct Page<Entry> {
    let entries: [Entry]
    /// Empty at the end.
    let next: String

    /// - Throws: `ABORTED` for a token that no page has had, `INVALID_ARGUMENT` for a negative number.
    init(
        _ all: [Entry], by name: KeyPath<Entry, String>, from token: String, most: Int32
    ) throws(RPCError) {
        guard most >= 0 else { throw RPCError(code: .invalidArgument, message: "max_entries is negative") }
        guard token.isEmpty || all.contains(where: { $0[keyPath: name] == token }) else {
            throw RPCError(code: .aborted, message: "nothing is known of this starting_token; begin again without one")
        }
        let rest = all.filter { token.isEmpty || $0[keyPath: name] > token }
        entries = most == 0 ? rest : Array(rest.prefix(Int(most)))
        next = entries.count < rest.count ? entries.last?[keyPath: name] ?? "" : ""
    }
}
