// appcontainer path: prints the path of a container.

import AppContainer
import ArgumentParser
import BackingStore
import Platform
import SandboxModel

/// Reads the device's records here, and asks a daemon only for the mount point, so that the command is fast in scripts.
/// Ends with exit code 25 if the app is not mounted.
struct Path: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print where an app's bundle or one of its containers is.",
        discussion: """
            "app" is the bundle, "data" the app's home (the default), anything else a group or iCloud container by its \
            identifier. The path is one in a mount, where content is plain: without a mount the command fails.

            Example:
              cp mail.txt "$(appcontainer path ~/phone com.example.Notes)/Documents/"
            """)

    @OptionGroup var device: DeviceArgument
    @OptionGroup var app: AppArgument
    @Argument(
        help: "app, data, or the identifier of a group or iCloud container.", completion: Completions.containers)
    var container: String = "data"
    @Flag(help: "Print the path in the device directory, where content is encrypted.")
    var backing = false
    @OptionGroup var answer: AnswerOptions

    func run() async throws {
        // The records first: an app that is not installed is exit code 12, mounted or not.
        let path = try device.path()
        let installed = try OfflineDevice.app(app.bundleID, of: path)
        let place = try Place(container, of: installed)
        let found: String
        if backing {
            found = place.backing(in: try DeviceDirectory.open(at: path))
        } else {
            let apps = try await OfflineDevice.apps(path)
            let mountPoints =
                apps.map { ($0.identifier, $0.mountPoint) }
                + apps.flatMap(\.extensions).map { ($0.identifier, $0.mountPoint) }
            guard let mountPoint = mountPoints.first(where: { $0.0 == app.bundleID })?.1 else {
                throw Complaint(
                    .notMounted, "\(app.bundleID) is not mounted; mount it, or ask for the host's path with --backing")
            }
            found = place.inHome.isEmpty ? mountPoint : "\(mountPoint)/\(place.inHome)"
            // A mount of Documents alone has neither bundle nor groups.
            guard (try? HostPath.status(found, following: false)) != nil else {
                throw Complaint(.notMounted, "\(app.bundleID) is mounted at \(mountPoint) with its documents only")
            }
        }
        if answer.json {
            try Output.json(["path": found])
        } else {
            try Output.line(found)
        }
    }

    /// A container of an app, with its paths in the app's home and in the device. The names `Groups` and `iCloud` are
    /// those of `Home.swift`.
    private struct Place {
        /// From the home's root; empty for the home itself.
        let inHome: String
        private let kind: ContainerKind
        private let uuid: ContainerUUID
        /// From the container on; only the bundle's container holds more than the part that is asked for.
        private let inner: String

        /// - Throws: ``Complaint`` of kind `notFound` for a container that the app does not have.
        init(_ name: String, of app: InstalledApp) throws(Complaint) {
            if name == "app" {
                (inHome, kind, uuid, inner) = (app.bundleName.text, .bundle, app.bundle, app.bundleName.text)
            } else if name == "data" {
                (inHome, kind, uuid, inner) = ("", .data, app.data, "")
            } else if let group = app.groups.first(where: { $0.identifier.text == name }) {
                (inHome, kind, uuid, inner) = ("Groups/\(name)", .group, group.uuid, "")
            } else if let container = app.iCloud.first(where: { $0.identifier.text == name }) {
                (inHome, kind, uuid, inner) = ("iCloud/\(name)", .iCloud, container.uuid, "")
            } else {
                throw Complaint(
                    .notFound,
                    "\(app.identifier) is not entitled to \(name); say app, data, or a group it is entitled to")
            }
        }

        /// The path in the device directory now; after an interrupted update that of the name `OLD+NEW` (Format.md).
        func backing(in directory: DeviceDirectory) -> String {
            let path = directory.presentPath(of: kind, uuid)
            return inner.isEmpty ? path : "\(path)/\(inner)"
        }
    }
}
