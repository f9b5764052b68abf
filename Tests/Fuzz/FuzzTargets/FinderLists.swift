// The property lists around a Manifest.db, as an iPhone writes them for a backup in the clear.

enum FinderLists {
    /// The lists by name.
    static let plain: [String: [UInt8]] = [
        "Manifest.plist": list(
            """
            <key>Version</key><string>10.0</string><key>IsEncrypted</key><false/>
            <key>Applications</key><dict><key>com.example.Notes</key><dict/></dict>
            """),
        "Status.plist": list(
            """
            <key>SnapshotState</key><string>finished</string><key>Version</key><string>3.3</string>
            <key>IsFullBackup</key><true/>
            """),
    ]

    private static func list(_ content: String) -> [UInt8] {
        Array("<?xml version=\"1.0\" encoding=\"UTF-8\"?><plist version=\"1.0\"><dict>\(content)</dict></plist>".utf8)
    }
}
