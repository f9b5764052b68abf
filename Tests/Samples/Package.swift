// swift-tools-version: 6.3
import PackageDescription

// Six apps' storage code, a program of one of them, and what they meet on a phone: a package as one who uses
// appcontainer would write it.

let package = Package(
    name: "Samples",
    platforms: [.iOS(.v16), .macOS(.v13)],
    dependencies: [
        // Elsewhere: .package(url: "https://github.com/OWNER/appcontainer", from: "0.2.0", traits: []). Without traits
        // it is the libraries alone, and no server.
        .package(name: "appcontainer", path: "../..", traits: []),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    ],
    targets: [
        .target(name: "Notes", dependencies: [.product(name: "GRDB", package: "GRDB.swift")]),
        .executableTarget(
            name: "Importer",
            dependencies: [
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "ContainerFoundation", package: "appcontainer"),
            ]),
        // An app's storage as it is written for iOS, but for one import.
        .executableTarget(
            name: "Storage", dependencies: [.product(name: "ContainerFoundation", package: "appcontainer")],
            path: "Notes/Sources/Notes"),
        .target(name: "Magazine"),
        .target(name: "Reader"),
        .target(name: "Album"),
        .target(name: "Journal"),
        // The tutorial's, as its reader has them at its end.
        .target(name: "Drafts", dependencies: [.product(name: "ContainerFoundation", package: "appcontainer")]),
    ]
)

#if os(Linux)
    // The devices are on Linux, and so are the libraries AppContainer and AppContainerTesting.
    package.targets += [
        .testTarget(
            name: "TutorialTests",
            dependencies: ["Drafts", .product(name: "AppContainerTesting", package: "appcontainer")]),
        .testTarget(
            name: "SampleTests",
            dependencies: [
                "Album", "Journal", "Magazine", "Notes", "Reader",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "AppContainer", package: "appcontainer"),
                .product(name: "AppContainerTesting", package: "appcontainer"),
                .product(name: "ContainerFoundation", package: "appcontainer"),
            ]),
        .testTarget(
            name: "ReachTests", dependencies: [.product(name: "AppContainerTesting", package: "appcontainer")]),
    ]
#endif
