// `URL.documentsDirectory` and its siblings, which Foundation has on Apple's systems only.

public import Foundation

extension URL {
    /// The home: the app's, where there is one.
    public static var homeDirectory: URL { URL(filePath: NSHomeDirectory(), directoryHint: .isDirectory) }

    /// A user's home. In an app's home everybody lives there, as on iOS.
    public static func homeDirectory(forUser user: String) -> URL? {
        FileManager.default.homeDirectory(forUser: user)
    }

    /// Where temporary files go.
    public static var temporaryDirectory: URL { URL(filePath: NSTemporaryDirectory(), directoryHint: .isDirectory) }

    /// What the user made: in backups, and never purged.
    public static var documentsDirectory: URL { standard(.documentDirectory) }

    /// `Library` of the home.
    public static var libraryDirectory: URL { standard(.libraryDirectory) }

    /// What the app needs and the user does not see. An app makes this directory itself.
    public static var applicationSupportDirectory: URL { standard(.applicationSupportDirectory) }

    /// What can be had again: in no backup, and purged when space runs out.
    public static var cachesDirectory: URL { standard(.cachesDirectory) }

    public static var applicationDirectory: URL { standard(.applicationDirectory) }
    public static var desktopDirectory: URL { standard(.desktopDirectory) }
    public static var downloadsDirectory: URL { standard(.downloadsDirectory) }
    public static var moviesDirectory: URL { standard(.moviesDirectory) }
    public static var musicDirectory: URL { standard(.musicDirectory) }
    public static var picturesDirectory: URL { standard(.picturesDirectory) }
    public static var sharedPublicDirectory: URL { standard(.sharedPublicDirectory) }
    public static var trashDirectory: URL { standard(.trashDirectory) }

    /// Where the homes of users are.
    public static var userDirectory: URL { URL(filePath: "/home", directoryHint: .isDirectory) }

    /// Finds a standard directory, and makes it if that is asked for.
    ///
    /// - Throws: what `FileManager.url(for:in:appropriateFor:create:)` throws.
    public init(
        for directory: FileManager.SearchPathDirectory, in domain: FileManager.SearchPathDomainMask,
        appropriateFor url: URL? = nil, create shouldCreate: Bool = false
    ) throws {
        self = try FileManager.default.url(for: directory, in: domain, appropriateFor: url, create: shouldCreate)
    }

    private static func standard(_ directory: FileManager.SearchPathDirectory) -> URL {
        FileManager.default.urls(for: directory, in: .userDomainMask).first ?? homeDirectory
    }
}
