// `URL.documentsDirectory` and the like, which Foundation has on Apple's systems only.

public import Foundation

extension URL {
    /// The app's home, or the user's where there is none.
    public static var homeDirectory: URL { URL(filePath: NSHomeDirectory(), directoryHint: .isDirectory) }

    /// A user's home. In an app's home the same for all users, as on iOS.
    public static func homeDirectory(forUser user: String) -> URL? {
        FileManager.default.homeDirectory(forUser: user)
    }

    /// The directory for temporary files: in an app's home `tmp`, which is in no backup, and purged.
    public static var temporaryDirectory: URL { URL(filePath: NSTemporaryDirectory(), directoryHint: .isDirectory) }

    /// `Documents` of the home, for files of the user: in backups, and never purged.
    public static var documentsDirectory: URL { standard(.documentDirectory) }

    /// `Library` of the home.
    public static var libraryDirectory: URL { standard(.libraryDirectory) }

    /// `Library/Application Support` of the home, for files that the user does not see. The app creates it.
    public static var applicationSupportDirectory: URL { standard(.applicationSupportDirectory) }

    /// `Library/Caches` of the home: in no backup, and purged when space runs out.
    public static var cachesDirectory: URL { standard(.cachesDirectory) }

    public static var applicationDirectory: URL { standard(.applicationDirectory) }
    public static var desktopDirectory: URL { standard(.desktopDirectory) }
    public static var downloadsDirectory: URL { standard(.downloadsDirectory) }
    public static var moviesDirectory: URL { standard(.moviesDirectory) }
    public static var musicDirectory: URL { standard(.musicDirectory) }
    public static var picturesDirectory: URL { standard(.picturesDirectory) }
    public static var sharedPublicDirectory: URL { standard(.sharedPublicDirectory) }
    public static var trashDirectory: URL { standard(.trashDirectory) }

    /// `/home`.
    public static var userDirectory: URL { URL(filePath: "/home", directoryHint: .isDirectory) }

    /// Finds a standard directory, and creates it if `shouldCreate`.
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
