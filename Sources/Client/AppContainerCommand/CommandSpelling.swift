// Commands that a misspelt word may have meant.

/// Compares a word with names: by what it begins, and by the typing errors between the two.
enum CommandSpelling {
    /// Names that are told at most.
    private static let most = 4
    /// A longer word is no misspelt name.
    private static let longestWord = 32

    /// The names that a word may have meant, the nearest first, and of equals in their order.
    static func suggestions(for word: String, among names: [String]) -> [String] {
        let word = word.lowercased()
        guard (2...longestWord).contains(word.count) else { return [] }
        let begun = names.filter { $0.hasPrefix(word) }
        let errors = names.map { (name: $0, count: distance(word, $0)) }
        let allowed = word.count <= 3 ? 1 : word.count <= 6 ? 2 : 3
        let least = errors.map(\.count).min() ?? 0
        let near = least <= allowed ? errors.filter { $0.count == least }.map(\.name) : []
        return Array((near + begun.filter { !near.contains($0) }).prefix(most))
    }

    /// The end of a line that refuses a word: `; did you mean install?`, or nothing.
    static func question(for word: String, among names: [String]) -> String {
        let found = suggestions(for: word, among: names)
        guard let last = found.last else { return "" }
        let others = found.dropLast().joined(separator: ", ")
        return "; did you mean \(others.isEmpty ? last : "\(others) or \(last)")?"
    }

    /// The least number of characters to insert, remove, replace, or exchange with their neighbours, that makes one
    /// text of the other (optimal string alignment).
    static func distance(_ first: String, _ second: String) -> Int {
        let (first, second) = (Array(first), Array(second))
        var before: [Int] = []
        var above = Array(0...second.count)
        for row in first.indices {
            var line = [row + 1]
            for column in second.indices {
                let isSame = first[row] == second[column]
                var least = min(above[column] + (isSame ? 0 : 1), above[column + 1] + 1, line[column] + 1)
                if row > 0, column > 0, first[row] == second[column - 1], first[row - 1] == second[column] {
                    least = min(least, before[column - 1] + 1)
                }
                line.append(least)
            }
            before = above
            above = line
        }
        return above[second.count]
    }
}
