// The checkout that the tests were built from: fixtures and papers that several modules' tests read.

public import Foundation

public enum Checkout {
    /// The directory that holds Package.swift.
    public static let root = (0..<4).reduce(URL(filePath: #filePath)) { place, _ in place.deletingLastPathComponent() }

    /// A small app without a signature.
    public static let notesApp = root.appending(path: "Tests/Fixtures/Notes.app").path
}
