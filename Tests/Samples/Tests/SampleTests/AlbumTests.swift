// An update gives an app a home with another path: what the app has stored has to be right there too.

import Album
import AppContainerTesting
import Foundation
import Testing

@Suite(.appContainer(app: "Apps/Album.app"))
struct AlbumTests {
    private let phone = AppContainer.current
    /// As the app sees them whenever it is started.
    private var favourites: Favourites {
        Favourites(documents: phone.url("Documents"), library: phone.url("Library"))
    }

    @Test func `a whole path names nothing after an update`() async throws {
        let picture = try takePicture("beach")
        try await phone.update(to: "Apps/Later/Album.app")
        #expect(!FileManager.default.fileExists(atPath: picture.path))
        #expect(try Data(contentsOf: phone.url("Documents/beach")) == Data("beach".utf8))
        #expect(try String(contentsOf: phone.url("Album.app/Sample.txt"), encoding: .utf8) == "two\n")
    }

    @Test func `favourites survive an update`() async throws {
        try favourites.add(try takePicture("beach"))
        try favourites.add(try takePicture("forest"))
        try await phone.update(to: "Apps/Later/Album.app")
        let pictures = try favourites.pictures()
        #expect(try pictures.map { try Data(contentsOf: $0) } == [Data("beach".utf8), Data("forest".utf8)])
    }

    @Test func `favourites that version 1 stored with whole paths are found after an update`() async throws {
        let picture = try takePicture("beach")
        try JSONEncoder().encode([picture.path]).write(to: phone.url("Library/Favourites.json"))
        try await phone.update(to: "Apps/Later/Album.app")
        #expect(try favourites.pictures() == [phone.url("Documents/beach")])
    }

    @Test func `the content of tmp is gone after an update`() async throws {
        try Data().write(to: phone.url("tmp/preview"))
        try await phone.update(to: "Apps/Later/Album.app")
        #expect(!FileManager.default.fileExists(atPath: phone.path("tmp/preview")))
    }

    private func takePicture(_ name: String) throws -> URL {
        let picture = phone.url("Documents/\(name)")
        try Data(name.utf8).write(to: picture)
        return picture
    }
}
