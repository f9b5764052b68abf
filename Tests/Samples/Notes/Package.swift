// swift-tools-version: 6.3
import PackageDescription

// An app's storage, written for iOS, as it compiles and works on Linux: the import is the only line that says so.
let package = Package(
    name: "Notes",
    platforms: [.iOS(.v17), .macOS(.v14)],
    dependencies: [.package(name: "appcontainer", path: "../../..")],
    targets: [
        .executableTarget(
            name: "Notes", dependencies: [.product(name: "ContainerFoundation", package: "appcontainer")])
    ]
)
