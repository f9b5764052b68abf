// Where temporary devices are made, and what is said when that is no place for one.

import FoundationEssentials
import Platform

extension Device {
    /// Has a temporary device made.
    ///
    /// - Parameter isOneOfMany: whether the next order is to find a process that has started already.
    static func make(
        _ order: DeviceOrder, isOneOfMany: Bool = false
    ) async throws(DeviceError) -> (TetheredProcess, StartReport) {
        do throws(DeviceError) {
            return try await DaemonProgram.own(order, isOneOfMany: isOneOfMany)
        } catch {
            // A copy lies where the original is, which holds a device already.
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

    /// A name that nothing has.
    static func temporaryPath(in directory: String? = nil) -> String {
        let named = ProcessInfo.processInfo.environment["TMPDIR"]
        var directory = directory ?? named.flatMap { $0.hasPrefix("/") ? $0 : nil } ?? "/tmp"
        while directory.hasSuffix("/") { directory.removeLast() }
        let digits = String(UInt64.random(in: .min ... .max), radix: 16)
        return "\(directory)/appcontainer-\(String(repeating: "0", count: 16 - digits.count))\(digits)"
    }
}
