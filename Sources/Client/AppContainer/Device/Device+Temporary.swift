// The place of temporary devices, and the error where that place is unsuitable.

import FoundationEssentials
import Platform

extension Device {
    /// Makes a temporary device.
    ///
    /// - Parameter isOneOfMany: whether a process is started for the next order ahead.
    static func make(
        _ order: DeviceOrder, isOneOfMany: Bool = false
    ) async throws(DeviceError) -> (TetheredProcess, StartReport) {
        do throws(DeviceError) {
            return try await DaemonProgram.own(order, isOneOfMany: isOneOfMany)
        } catch {
            // A copy is made beside its original, so the place is suitable.
            guard order.clone == nil, let place = HostPath.place(of: order.device)?.directory else { throw error }
            let isAboutThePlace =
                switch error.kind {
                case .hostFilesystem, .noSpace: true
                default: !HostPath.isWritable(place)
                }
            guard isAboutThePlace else { throw error }
            throw DeviceError(
                error.kind,
                "\(error.message) (temporary devices are made in \(place); name another directory in the environment "
                    + "variable TMPDIR)")
        }
    }

    /// A new path for a device, with a random name.
    static func temporaryPath(in directory: String? = nil) -> String {
        let named = ProcessInfo.processInfo.environment["TMPDIR"]
        var directory = directory ?? named.flatMap { $0.hasPrefix("/") ? $0 : nil } ?? "/tmp"
        while directory.hasSuffix("/") { directory.removeLast() }
        let digits = String(UInt64.random(in: .min ... .max), radix: 16)
        return "\(directory)/appcontainer-\(String(repeating: "0", count: 16 - digits.count))\(digits)"
    }
}
