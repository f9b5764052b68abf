// swift-tools-version: 6.3
import PackageDescription

/// Every module is built with the compiler's strictest settings: nobody has to review what it proves.
let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .strictMemorySafety(),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

/// One module. `uses` names the modules below it; `scripts/layers` refuses an import that points up.
func module(
    _ name: String, in layer: String, uses: [Target.Dependency] = [], resources: [Resource]? = nil,
    settings: [SwiftSetting] = []
) -> Target {
    .target(
        name: name, dependencies: uses, path: "Sources/\(layer)/\(name)", resources: resources,
        swiftSettings: strict + settings)
}

func tests(
    _ name: String, in layer: String, of uses: [Target.Dependency], resources: [Resource]? = nil
) -> Target {
    .testTarget(
        name: name, dependencies: uses, path: "Tests/\(layer)/\(name)", resources: resources, swiftSettings: strict)
}

/// A library of another package, for the program alone.
func library(_ name: String, of package: String) -> Target.Dependency {
    .product(name: name, package: package, condition: .when(traits: ["Program"]))
}

/// The scripts of a device's page.
let pageScripts = [
    "Common/API", "Common/Actions", "Common/Commands", "Common/Elements", "Common/Text", "Device/Device",
    "Device/DeviceActions", "Device/Events", "Device/TimeLine", "Feed", "Files/FileActions", "Files/FilePage",
    "Files/Files", "Files/Guidelines", "Files/Layout", "Files/Listing", "Files/Map", "Files/Model", "Files/RowView",
    "Files/Rows", "Files/Tree", "Files/Worker", "Live", "Page", "Report",
]

let package = Package(
    name: "appcontainer",
    products: [
        .executable(name: "appcontainer", targets: ["AppContainerCommand"]),
        .library(name: "AppContainer", targets: ["AppContainer"]),
        .library(name: "AppContainerTesting", targets: ["AppContainerTesting"]),
        .library(name: "ContainerFoundation", targets: ["ContainerFoundation"]),
        // Darwin's calls for C code: the header <appcontainer/darwin.h>.
        .library(name: "CDarwin", targets: ["CDarwin"]),
        // For the driver of the Container Storage Interface, a package of its own in this repository.
        .library(name: "Volumes", targets: ["SandboxModel", "Volumes"]),
        // For scripts/bench. A package that uses the libraries builds the products that it names, and not this one.
        .executable(name: "passthrough", targets: ["Passthrough"]),
    ],
    traits: [
        .trait(
            name: "Program",
            description:
                "The command appcontainer. A package that uses the libraries alone says traits: [], and fetches nothing."
        ),
        .default(enabledTraits: ["Program"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-asn1", from: "1.7.4"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    ],
    targets: [
        // Ground: C that Swift cannot import by itself.
        // Without pkgConfig: SwiftPM would warn of each library that is missing, in every package that depends on this
        // one, also where nothing that needs it is built.
        .systemLibrary(name: "CFuse", path: "Sources/System/CFuse"),
        .systemLibrary(name: "COpenSSL", path: "Sources/System/COpenSSL"),
        .systemLibrary(name: "CArchive", path: "Sources/System/CArchive"),
        .systemLibrary(name: "CSQLite", path: "Sources/System/CSQLite"),
        .target(name: "CPlatform", path: "Sources/System/CPlatform"),
        // Darwin's calls on Linux, for C code and for ContainerFoundation.
        .target(name: "CDarwin", path: "Sources/Client/CDarwin"),
        .target(name: "CProcess", path: "Sources/System/CProcess"),
        .target(name: "CWorkers", path: "Sources/System/CWorkers"),
        .target(name: "CRing", path: "Sources/System/CRing"),

        // Floor 0: the vocabulary.
        module("SandboxModel", in: "Model"),

        // Floor 1: what the machine gives, and pure rules.
        module("Platform", in: "System", uses: ["CPlatform", "CProcess", "SandboxModel"]),
        module("SandboxPolicy", in: "Model", uses: ["SandboxModel"]),
        module("BackupModel", in: "Model", uses: ["SandboxModel"]),
        module("HashFunctions", in: "System", uses: ["COpenSSL", "Platform"]),
        module("PropertyLists", in: "System"),

        // Floor 2: formats, and the FUSE protocol. None knows another, but FinderBackup has its keys from
        // DataProtection, and TarBackup and DeviceTemplate their archives from TarFormat.
        module("DataProtection", in: "Formats", uses: ["COpenSSL", "HashFunctions", "Platform", "SandboxModel"]),
        module(
            "BundleSeal", in: "Formats",
            uses: [
                "COpenSSL", "HashFunctions", "Platform", "PropertyLists", "SandboxModel",
                library("SwiftASN1", of: "swift-asn1"),
            ]),
        module("BundleArchive", in: "Formats", uses: ["CArchive", "Platform", "SandboxModel"]),
        module(
            "FinderBackup", in: "Formats",
            uses: [
                "BackupModel", "CSQLite", "DataProtection", "HashFunctions", "Platform", "PropertyLists",
                "SandboxModel",
            ]),
        module(
            "DeviceTemplate", in: "Formats", uses: ["HashFunctions", "Platform", "SandboxModel", "TarFormat"]),
        module("TarFormat", in: "Formats", uses: ["CArchive", "HashFunctions", "Platform", "SandboxModel"]),
        module(
            "TarBackup", in: "Formats",
            uses: ["BackupModel", "HashFunctions", "Platform", "SandboxModel", "TarFormat"]),
        module(
            "FuseBridge", in: "FileSystem", uses: ["CFuse", "CPlatform", "CRing", "Platform", "SandboxModel"]),

        // Floor 3: what lies on disk.
        module(
            "BackingStore", in: "FileSystem",
            uses: [
                "BundleSeal", "DataProtection", "DeviceTemplate", "HashFunctions", "Platform", "SandboxModel",
                "TarFormat",
            ]),

        // Floor 4: the filesystem.
        module(
            "ContainerVolume", in: "FileSystem",
            uses: ["BackingStore", "Platform", "SandboxModel", "SandboxPolicy"]),

        // Floor 5: the filesystem as the kernel sees it, and the life of a device.
        module(
            "ContainerMount", in: "FileSystem",
            uses: ["BackingStore", "ContainerVolume", "FuseBridge", "Platform", "SandboxModel"]),
        module(
            "DeviceLifecycle", in: "Device",
            uses: [
                "BackingStore", "BackupModel", "BundleArchive", "BundleSeal", "DataProtection", "DeviceTemplate",
                "HashFunctions", "Platform", "SandboxModel", "SandboxPolicy", "TarFormat",
            ]),

        // Floor 6: the public library and the process that it talks to.
        module(
            "Purging", in: "Device",
            uses: ["BackingStore", "ContainerVolume", "DeviceLifecycle", "Platform", "SandboxModel"]),
        module(
            "AppContainer", in: "Client",
            uses: ["Platform", "SandboxModel"]),
        module(
            "ControlServer", in: "Device",
            uses: [
                "Platform", "SandboxModel", library("NIOCore", of: "swift-nio"),
                library("NIOHTTP1", of: "swift-nio"), library("NIOPosix", of: "swift-nio"),
            ]),
        module(
            "Daemon", in: "Device",
            uses: [
                "AppContainer", "BackingStore", "BackupModel", "BundleSeal", "ContainerMount", "ContainerVolume",
                "ControlServer", "DeviceLifecycle", "FinderBackup", "Platform", "Purging", "SandboxModel",
                "SandboxPolicy",
                "TarBackup",
                library("Logging", of: "swift-log"),
            ]),

        // Floor 7: what an app imports in place of Foundation. A manifest knows the system that reads it, and not the
        // one that is compiled for. The flag tells the sources that the manifest was read on Linux.
        module(
            "ContainerFoundation", in: "Client", uses: ["AppContainer", "CDarwin", "Platform", "SandboxModel"],
            settings: [.define("LINUX_HOST")]),
        module(
            "DevicePage", in: "Client",
            uses: ["AppContainer", "ControlServer", "HashFunctions", "Platform", "SandboxModel"],
            // In the program itself, which is one file that can be copied anywhere.
            resources: (["Page.css", "Page.html"] + pageScripts.map { "Scripts/\($0).js" }).map {
                .embedInCode("Page/\($0)")
            }),

        module(
            "Volumes", in: "Device",
            uses: [
                "AppContainer", "BackingStore", "ControlServer", "Daemon", "DeviceLifecycle", "HashFunctions",
                "Platform", "SandboxModel",
            ]),

        // Floor 8: the clients: tests, and the command.
        module(
            "AppContainerTesting", in: "Client",
            uses: ["AppContainer", "ContainerFoundation", "Platform", "SandboxModel"]),
        .executableTarget(
            name: "AppContainerCommand",
            dependencies: [
                "AppContainer", "BackingStore", "BundleSeal", "CWorkers", "Daemon", "DataProtection", "DeviceLifecycle",
                "DevicePage", "DeviceTemplate", "Platform", "SandboxModel", "Volumes",
                library("ArgumentParser", of: "swift-argument-parser"),
            ],
            path: "Sources/Client/AppContainerCommand", swiftSettings: strict),
        .target(
            name: "TestSupport",
            dependencies: ["BackingStore", "BundleSeal", "DataProtection", "Platform", "SandboxModel"],
            path: "Tests/Support/TestSupport", swiftSettings: strict),
        .executableTarget(
            name: "Passthrough", dependencies: ["CPlatform", "FuseBridge", "Platform", "SandboxModel"],
            path: "Tests/Support/Passthrough", swiftSettings: strict),
        .target(name: "CAllocations", path: "Tests/Support/CAllocations"),
        .target(name: "CHostFaults", path: "Tests/Support/CHostFaults"),
        tests(
            "BackingStoreTests", in: "FileSystem",
            of: [
                "BackingStore", "BundleSeal", "CHostFaults", "DataProtection", "DeviceTemplate", "HashFunctions",
                "Platform", "SandboxModel", "TarFormat", "TestSupport",
            ]),
        tests(
            "ContainerVolumeTests", in: "FileSystem",
            of: [
                "BackingStore", "CAllocations", "CHostFaults", "ContainerVolume", "DataProtection", "Platform",
                "SandboxModel", "TestSupport",
            ]),
        tests(
            "ContainerMountTests", in: "FileSystem",
            of: [
                "BackingStore", "ContainerMount", "ContainerVolume", "DataProtection", "FuseBridge", "Platform",
                "SandboxModel", "TestSupport",
            ]),
        tests(
            "FinderBackupTests", in: "Formats",
            of: [
                "BackupModel", "DataProtection", "FinderBackup", "HashFunctions", "SandboxModel", "TestSupport",
            ],
            resources: [
                .copy("check_with_mvt.py"), .copy("make_phone_backup.py"), .copy("read_with_public_tools.py"),
            ]),
        tests(
            "FuseBridgeTests", in: "FileSystem",
            of: ["CPlatform", "CRing", "FuseBridge", "Platform", "SandboxModel", "TestSupport"]),
        tests(
            "PassthroughTests", in: "FileSystem",
            of: ["FuseBridge", "Passthrough", "Platform", "SandboxModel", "TestSupport"]),
        tests(
            "AppContainerCommandTests", in: "Client", of: ["AppContainer", "AppContainerCommand", "SandboxModel"],
            resources: [.copy("Transcripts")]),
        tests("AppContainerTests", in: "Client", of: ["AppContainer", "Platform"]),
        tests(
            "DevicePageTests", in: "Client",
            of: ["AppContainer", "ControlServer", "DevicePage", "Platform", "SandboxModel"]),
        tests(
            "AppContainerTestingTests", in: "Client",
            of: ["AppContainer", "AppContainerCommand", "AppContainerTesting", "ContainerFoundation", "Platform"]),
        tests(
            "ContainerFoundationTests", in: "Client",
            of: ["ContainerFoundation", "Platform", "SandboxModel", "TestSupport"]),
        tests(
            "DaemonTests", in: "Device",
            of: [
                "AppContainer", "BackingStore", "ContainerVolume", "ControlServer", "Daemon", "DataProtection",
                "DeviceLifecycle", "Platform", "Purging", "SandboxModel", "TestSupport",
                library("Logging", of: "swift-log"),
            ]),
        tests(
            "VolumesTests", in: "Device", of: ["BackingStore", "Platform", "SandboxModel", "TestSupport", "Volumes"]),
        tests(
            "PurgingTests", in: "Device",
            of: [
                "BackingStore", "ContainerVolume", "DeviceLifecycle", "Platform", "Purging", "SandboxModel",
                "TestSupport",
            ]),
        tests(
            "BundleSealTests", in: "Formats",
            of: ["BundleSeal", "COpenSSL", "HashFunctions", "Platform", "SandboxModel", "TestSupport"]),
        tests(
            "TarBackupTests", in: "Formats",
            of: [
                "BackupModel", "CAllocations", "HashFunctions", "Platform", "SandboxModel", "TarBackup", "TarFormat",
                "TestSupport",
            ]),
        tests("BundleArchiveTests", in: "Formats", of: ["BundleArchive", "Platform", "SandboxModel", "TestSupport"]),
        tests(
            "DataProtectionTests", in: "Formats",
            of: ["DataProtection", "HashFunctions", "Platform", "SandboxModel", "TestSupport"],
            resources: [.copy("Fixtures")]),
        tests(
            "ControlServerTests", in: "Device",
            of: [
                "ControlServer", "Platform", "SandboxModel", library("NIOCore", of: "swift-nio"),
                library("NIOHTTP1", of: "swift-nio"),
            ]),
        tests("PropertyListsTests", in: "System", of: ["PropertyLists", "TestSupport"]),
        tests("PlatformTests", in: "System", of: ["Platform", "SandboxModel"]),
        tests("SandboxModelTests", in: "Model", of: ["SandboxModel"]),
        tests(
            "SandboxPolicyTests", in: "Model", of: ["SandboxModel", "SandboxPolicy"], resources: [.copy("Fixtures")]),
        tests(
            "DeviceLifecycleTests", in: "Device",
            of: [
                "BackingStore", "BackupModel", "BundleSeal", "CHostFaults", "ContainerVolume", "DataProtection",
                "DeviceLifecycle", "HashFunctions", "Platform", "Purging", "SandboxModel", "SandboxPolicy",
                "TestSupport",
            ]),
        .target(
            name: "FuzzTargets",
            dependencies: [
                "BackingStore", "BackupModel", "BundleArchive", "BundleSeal", "ControlServer", "DataProtection",
                "DeviceLifecycle", "DeviceTemplate", "FinderBackup", "HashFunctions", "Platform", "PropertyLists",
                "SandboxModel", "TarBackup", "TarFormat", library("NIOCore", of: "swift-nio"),
                library("NIOEmbedded", of: "swift-nio"),
                library("NIOHTTP1", of: "swift-nio"),
            ],
            path: "Tests/Fuzz/FuzzTargets", swiftSettings: strict),
        .testTarget(
            name: "FuzzTests", dependencies: ["FuzzTargets", "TestSupport"], path: "Tests/Fuzz/FuzzTests",
            swiftSettings: strict),
    ]
)

// Needs libFuzzer, which the compiler links only where it is asked to. scripts/fuzz sets the variable.
if Context.environment["APPCONTAINER_FUZZ"] != nil {
    package.targets += [
        .target(name: "CFuzzer", path: "Tests/Fuzz/CFuzzer"),
        .executableTarget(
            name: "Fuzzer", dependencies: ["CFuzzer", "FuzzTargets"], path: "Tests/Fuzz/Fuzzer",
            swiftSettings: strict + [.unsafeFlags(["-parse-as-library"])]),
    ]
}

#if !os(Linux)
    // Elsewhere there is nothing to mount, and an app's code imports Foundation by another name: that alone, and
    // nothing that would have to be fetched or installed for it.
    package.products = [.library(name: "ContainerFoundation", targets: ["ContainerFoundation"])]
    package.dependencies = []
    package.targets = [
        .target(
            name: "ContainerFoundation", path: "Sources/Client/ContainerFoundation", exclude: ["Linux"],
            swiftSettings: strict)
    ]
#endif
