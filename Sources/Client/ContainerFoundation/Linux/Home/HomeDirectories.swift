// The standard directories of a home, as on iOS.

import Foundation

/// The standard directories below a home.
struct HomeDirectories {
    let home: String

    /// The paths of a directory in the user's domain, the preferred one first.
    /// - Returns: an empty list for directories that are not below a home.
    func paths(of directory: FileManager.SearchPathDirectory) -> [String] {
        names(of: directory).map { "\(home)/\($0)" }
    }

    private func names(of directory: FileManager.SearchPathDirectory) -> [String] {
        switch directory {
        case .documentDirectory: ["Documents"]
        case .libraryDirectory, .allLibrariesDirectory: ["Library"]
        case .applicationSupportDirectory: ["Library/Application Support"]
        case .cachesDirectory: ["Library/Caches"]
        case .autosavedInformationDirectory: ["Library/Autosave Information"]
        case .documentationDirectory: ["Library/Documentation"]
        case .inputMethodsDirectory: ["Library/Input Methods"]
        case .preferencePanesDirectory: ["Library/PreferencePanes"]
        case .applicationScriptsDirectory: ["Library/Application Scripts"]
        case .applicationDirectory: ["Applications"]
        case .demoApplicationDirectory: ["Applications/Demos"]
        case .adminApplicationDirectory: ["Applications/Utilities"]
        case .allApplicationsDirectory: ["Applications", "Applications/Utilities", "Applications/Demos"]
        case .developerDirectory: ["Developer"]
        case .developerApplicationDirectory: ["Developer/Applications"]
        case .desktopDirectory: ["Desktop"]
        case .downloadsDirectory: ["Downloads"]
        case .moviesDirectory: ["Movies"]
        case .musicDirectory: ["Music"]
        case .picturesDirectory: ["Pictures"]
        case .sharedPublicDirectory: ["Public"]
        case .trashDirectory: [".Trash"]
        case .userDirectory, .coreServiceDirectory, .printerDescriptionDirectory, .itemReplacementDirectory: []
        @unknown default: []
        }
    }
}
