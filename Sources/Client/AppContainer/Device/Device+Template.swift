// Templates: devices that are copied for each test.

import Platform

extension Device {
    /// A temporary device that is shut down, for many copies. It is deleted with ``end()``, with the last reference to
    /// it, and with this program.
    ///
    /// ```swift
    /// let template = try await Device.Template(passcode: "1234", installing: ["Notes.app"])
    /// let device = try await template.device()
    /// ```
    public final class Template: Sendable {
        /// The path of the device's directory.
        public let path: String
        /// The apps that were installed.
        public let apps: [App]
        private let passcode: String?
        private let owned: TetheredProcess

        /// An app to install.
        public struct Installation: Hashable, Sendable, ExpressibleByStringLiteral {
            /// The path of a `.app` directory or an `.ipa`.
            public var app: String
            public var groups: [String]
            public var iCloud: [String]

            public init(_ app: String, groups: [String] = [], iCloud: [String] = []) {
                self.app = app
                self.groups = groups
                self.iCloud = iCloud
            }

            public init(stringLiteral app: String) {
                self.init(app)
            }
        }

        /// Makes a device with apps on it, and shuts it down.
        ///
        /// - Parameters: as those of ``Device/temporary(passcode:capacity:lockGrace:kdfCost:capricious:)``.
        /// - Throws: an error of kind `invalidApp`, `sealBroken`, `hostFilesystem`, `programMissing`, …
        public init(
            passcode: String? = nil, capacity: Int64? = nil, lockGrace: Duration = .zero, kdfCost: Int = 1,
            capricious: String? = nil, installing apps: [Installation]
        ) async throws(DeviceError) {
            var requests: [InstallRequest] = []
            for app in apps {
                requests.append(
                    InstallRequest(app: try Device.absolute(app.app), groups: app.groups, iCloud: app.iCloud))
            }
            let settings = DeviceOrder.Settings(
                passcode: passcode, capacity: capacity, lockGrace: lockGrace / .seconds(1), kdfCost: kdfCost,
                capricious: capricious)
            let order = DeviceOrder(
                device: Device.temporaryPath(), create: settings, install: requests, template: true)
            let (process, report) = try await Device.make(order)
            path = order.device
            owned = process
            self.passcode = passcode
            self.apps = report.apps ?? []
        }

        /// Makes a temporary copy. Any number of copies can be made at once.
        public func device() async throws(DeviceError) -> Device {
            try await Device.temporary(copyOf: path, passcode: passcode)
        }

        /// Deletes the template. Its copies stay.
        public func end() async {
            await DaemonProgram.end(owned, of: path)
        }
    }
}
