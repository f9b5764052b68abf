// The whole policy as text, one table for each question of the policy.

import SandboxModel
import SandboxPolicy

enum Matrix {
    /// Regenerates what Fixtures/matrix.txt holds.
    static var text: String {
        [zones, names, ownNames, renames, exchanges, protection, classChanges, backups].joined(separator: "\n")
    }

    private static func cell(_ rule: Rule?) -> String { rule?.rawValue ?? "." }

    private static func table(_ title: String, _ header: [String], _ rows: [[String]]) -> String {
        let all = [header] + rows
        let widths = header.indices.map { column in all.map { $0[column].count }.max()! }
        let lines = all.map { row in
            var line = ""
            for (column, cell) in row.enumerated() {
                line += cell + String(repeating: " ", count: widths[column] - cell.count + 2)
            }
            while line.last == " " { line.removeLast() }
            return line
        }
        return ([title, ""] + lines).joined(separator: "\n") + "\n"
    }

    private static var zones: String {
        table(
            """
            What may be done where: "." is allowed, a word is the rule that refuses.
            From create downwards the zone is that of the directory, above it that of the node itself.
            """,
            ["operation"] + Zone.allCases.map { "\($0)" },
            Operation.allCases.map { operation in
                [operation.rawValue] + Zone.allCases.map { cell(SandboxPolicy.refusal(of: operation, in: $0)) }
            })
    }

    private static var names: String {
        let names: [FileName] = ["Inbox", "inbox", "Inbox2", "notes.txt"]
        return table(
            "Names that may be given in a directory of a zone, besides.",
            ["name"] + Zone.allCases.map { "\($0)" },
            names.map { name in
                [name.text] + Zone.allCases.map { cell(SandboxPolicy.refusal(ofName: name, in: $0)) }
            })
    }

    private static var ownNames: String {
        let operations = Operation.allCases.filter(\.givesName)
        return table(
            "Names that belong to a zone, such as Library/Caches where it is missing, besides.",
            ["operation"] + Zone.allCases.map { "\($0)" },
            operations.map { operation in
                [operation.rawValue] + Zone.allCases.map { cell(SandboxPolicy.refusal(of: operation, naming: $0)) }
            })
    }

    /// The zones that a rename on a mount can meet.
    private static let nodes = Zone.allCases.filter { $0 != .device }
    private static let directories: [Zone] = [
        .home, .bundle, .containers, .standardDirectory, .documents, .inbox, .inboxItem, .container,
    ]

    private static var renames: String {
        let free = table(
            "rename of a node of a zone (rows) to a free name in a directory of a zone (columns).",
            ["node"] + directories.map { "\($0)" },
            nodes.map { node in
                ["\(node)"]
                    + directories.map {
                        cell(SandboxPolicy.refusalOfRename(of: node, to: "new", in: $0, replacing: nil))
                    }
            })
        let replacing = table(
            "rename of what the app made, in a directory that the app made, over a node of a zone.",
            ["replaced", "rule"],
            nodes.map { node in
                [
                    "\(node)",
                    cell(SandboxPolicy.refusalOfRename(of: .container, to: "new", in: .container, replacing: node)),
                ]
            })
        return free + "\n" + replacing
    }

    private static var exchanges: String {
        let places: [(String, SandboxPolicy.Place)] = [
            ("bundle file", .init(zone: .bundle, directory: .bundle, name: "Info.plist")),
            ("metadata", .init(zone: .metadata, directory: .home, name: "metadata.plist")),
            ("Documents", .init(zone: .documents, directory: .home, name: "Documents")),
            ("Caches", .init(zone: .standardDirectory, directory: .standardDirectory, name: "Caches")),
            ("Inbox", .init(zone: .inbox, directory: .documents, name: "Inbox")),
            ("delivered file", .init(zone: .inboxItem, directory: .inbox, name: "mail.txt")),
            ("file in Documents", .init(zone: .container, directory: .documents, name: "a")),
            ("file in tmp", .init(zone: .container, directory: .standardDirectory, name: "b")),
            ("tmp/Inbox", .init(zone: .container, directory: .standardDirectory, name: "Inbox")),
        ]
        return table(
            "exchange of two names.",
            ["with"] + places.map(\.0),
            places.map { row in
                [row.0] + places.map { cell(SandboxPolicy.refusalOfExchange(row.1, $0.1)) }
            })
    }

    /// Only one rule can refuse here, so a cell names the classes that it refuses.
    private static var protection: String {
        let questions: [(String, Operation, Bool)] =
            Operation.allCases.map { ($0.rawValue, $0, false) }
            + [Operation.read, .write, .truncate].map { ($0.rawValue + ", open descriptor", $0, true) }
        let rows = questions.map { name, operation, opened in
            [name]
                + DeviceState.allCases.map { state in
                    let refused = ProtectionClass.allCases.filter {
                        SandboxPolicy.refusal(of: operation, protection: $0, state: state, opened: opened) != nil
                    }
                    return refused.isEmpty ? "." : refused.map(letter).joined(separator: " ")
                }
        }
        return table(
            "The classes whose content cannot be reached, by the device's state (rule: dataProtection).",
            ["operation"] + DeviceState.allCases.map(\.rawValue), rows)
    }

    private static var classChanges: String {
        let rows = ProtectionClass.allCases.flatMap { old in
            ProtectionClass.allCases.map { new in
                ["\(letter(old)) to \(letter(new))"]
                    + DeviceState.allCases.map {
                        cell(SandboxPolicy.refusalOfClassChange(from: old, to: new, state: $0))
                    }
            }
        }
        return table(
            "A file's change from one class to another.", ["change"] + DeviceState.allCases.map(\.rawValue), rows)
    }

    /// Of each place of a home, and of something in it, without a mark and with one on `Library` and `Groups`.
    private static var backups: String {
        let places = [
            "Notes.app", "Documents", "Documents/Inbox", "Library", "Library/Caches", "Library/Preferences", "tmp",
            "Groups/id", "Groups/id/Library", "Groups/id/Library/Caches", "Groups/id/tmp",
            "iCloud", "iCloud/id", ".com.apple.mobile_container_manager.metadata.plist",
        ]
        return table(
            "Contents of a backup of a home; beside it, where Library and the group bear the mark.",
            ["path", "it", "what is in it", "it", "what is in it"],
            places.map { place in
                let here = place.split(separator: "/").map { FileName(String($0))! }
                return [place]
                    + [[], ["Library", "Groups/id"]].flatMap { (marked: [String]) in
                        [here, here + ["file"]].map { path in
                            let never = SandboxPolicy.neverInBackup(path, bundle: "Notes.app")
                            let found = SandboxPolicy.inclusion(of: path, never: never) {
                                marked.contains(path.prefix($0).text)
                            }
                            return String(decoding: found.attributeValue, as: UTF8.self)
                        }
                    }
            })
    }

    private static func letter(_ protection: ProtectionClass) -> String {
        switch protection {
        case .complete: "A"
        case .completeUnlessOpen: "B"
        case .completeUntilFirstUserAuthentication: "C"
        case .none: "D"
        }
    }
}
