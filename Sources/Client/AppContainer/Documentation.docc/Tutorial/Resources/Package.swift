// swift-tools-version: 6.3
import PackageDescription

let package = Package(
    name: "Drafts",
    platforms: [.iOS(.v16), .macOS(.v13)],
    dependencies: [
        .package(url: "https://github.com/OWNER/appcontainer", from: "0.2.0", traits: [])
    ],
    targets: [
        .target(name: "Drafts", dependencies: [.product(name: "ContainerFoundation", package: "appcontainer")])
    ]
)

#if os(Linux)
    // The device is on Linux, and so is the library.
    package.targets.append(
        .testTarget(
            name: "DraftsTests",
            dependencies: ["Drafts", .product(name: "AppContainerTesting", package: "appcontainer")]))
#endif
