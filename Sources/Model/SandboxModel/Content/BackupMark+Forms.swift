// The forms of the mark of exclusion: the attributes by which tools know it, with their values.

extension BackupMark {
    /// An attribute that shows the mark. All forms are one fact: setting or removing one sets or removes all.
    public enum Form: CaseIterable, Sendable {
        /// Apple's present name.
        case excludeItem
        /// The name of iOS 5.0.1.
        case mobileBackup
        /// The name of freedesktop's guidelines for extended attributes, and of Borg 2.
        case robots

        /// - Parameter attribute: the attribute's name as an application gives it.
        /// - Returns: nil for any other attribute.
        public init?(attribute: [UInt8]) {
            guard let form = Form.byName[attribute] else { return nil }
            self = form
        }

        private static let byName: [[UInt8]: Form] = Dictionary(
            uniqueKeysWithValues: allCases.flatMap { form in form.names.map { (Array($0.utf8), form) } })

        /// The names with the prefix `user.`; Apple's names also without it.
        public var names: [String] {
            switch self {
            case .excludeItem: [BackupMark.attributeName, String(BackupMark.attributeName.dropFirst("user.".count))]
            case .mobileBackup: ["user.com.apple.MobileBackup", "com.apple.MobileBackup"]
            case .robots: [BackupMark.robotsName]
            }
        }

        /// The value that the attribute reads back as, whatever it was set to.
        public var canonicalValue: [UInt8] {
            switch self {
            case .excludeItem: BackupMark.canonicalValue
            case .mobileBackup: [1]
            case .robots: Array("false".utf8)
            }
        }

        /// The effect of setting the attribute to a value; nil for a value that it cannot have.
        ///
        /// The presence of the attribute excludes. But 0 for `MobileBackup`, as a byte or as a digit, and `true` for
        /// `robots.backup` include.
        public func setting(_ value: [UInt8]) -> Setting? {
            switch self {
            case .excludeItem: .exclude
            case .mobileBackup: value == [0] || value == [UInt8(ascii: "0")] ? .include : .exclude
            case .robots:
                value == canonicalValue ? .exclude : value.elementsEqual("true".utf8) ? .include : nil
            }
        }
    }

    /// The effect of setting a form.
    public enum Setting: Sendable {
        case exclude, include
    }

    /// The forms that listxattr(2) shows, so that copying tools keep the mark: names that other filesystems accept.
    public static let listedNames: [[UInt8]] = [Array(attributeName.utf8), Array(robotsName.utf8)]

    private static let robotsName = "user.xdg.robots.backup"
}
