// The names under which tools know the one mark, what each reads back as, and what setting each says.

extension BackupMark {
    /// A name for the mark. All of them are one fact: to set or remove one is to set or remove all.
    public enum Form: CaseIterable, Sendable {
        /// Apple's own name.
        case excludeItem
        /// The name that iOS 5.0.1 had for it.
        case mobileBackup
        /// That of freedesktop's guidelines for extended attributes, and of Borg 2.
        case robots

        /// - Parameter attribute: the attribute's name as an application gives it.
        /// - Returns: nil for any other attribute.
        public init?(attribute: [UInt8]) {
            guard let form = Form.byName[attribute] else { return nil }
            self = form
        }

        private static let byName: [[UInt8]: Form] = Dictionary(
            uniqueKeysWithValues: allCases.flatMap { form in form.names.map { (Array($0.utf8), form) } })

        /// With `user.` before it, and, where the name is Apple's, as it is.
        private var names: [String] {
            switch self {
            case .excludeItem: [BackupMark.attributeName, String(BackupMark.attributeName.dropFirst("user.".count))]
            case .mobileBackup: ["user.com.apple.MobileBackup", "com.apple.MobileBackup"]
            case .robots: ["user.xdg.robots.backup"]
            }
        }

        /// What it reads as, whatever it was set to.
        public var canonicalValue: [UInt8] {
            switch self {
            case .excludeItem: BackupMark.canonicalValue
            case .mobileBackup: [1]
            case .robots: Array("false".utf8)
            }
        }

        /// What to do to the mark when the form is set to a value; nil for a value that it cannot have.
        ///
        /// That an attribute is there is what excludes. But 0 for `MobileBackup`, as a byte or as the digit, and `true`
        /// for `robots.backup` ask for a backup.
        public func setting(_ value: [UInt8]) -> Setting? {
            switch self {
            case .excludeItem: .exclude
            case .mobileBackup: value == [0] || value == [UInt8(ascii: "0")] ? .include : .exclude
            case .robots:
                value == canonicalValue ? .exclude : value.elementsEqual("true".utf8) ? .include : nil
            }
        }
    }

    /// What setting a form says.
    public enum Setting: Sendable {
        case exclude, include
    }

    /// What copying tools find of the mark: names that the host of their copies can take, too.
    public static let listedNames: [[UInt8]] = [Array(attributeName.utf8), Array("user.xdg.robots.backup".utf8)]
}
