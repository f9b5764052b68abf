// The requests about space, and the handler of the capacity. Purging has a folder of its own.

import AppContainer
import BackingStore
import ContainerMount
import DeviceLifecycle
import Logging
import SandboxModel

extension DeviceService {
    /// The requests about space.
    static let spaceRoutes: [Route<DeviceService>] = [
        .call(capacity), .work(purge),
    ]

    /// Changes the capacity and the marks where the request has values, and returns them.
    /// - Throws: ``Complaint`` of kind `badRequest` for marks that are no percentages or in the wrong order.
    func capacity(_ request: CapacityRequest) throws(Complaint) -> CapacityReport {
        try operations.run { () throws(Complaint) in
            let space = device.context.space
            if request.changesAnything {
                let usual = space.waterMarks
                guard let marks = SpaceMarks(low: request.lowWater ?? usual.low, high: request.highWater ?? usual.high)
                else {
                    throw Complaint(
                        .badRequest,
                        "the marks are percentages, and the low-water mark is not above the high-water mark")
                }
                let capacity = request.hostCapacity == true ? nil : request.capacity ?? space.capacity
                try device.bound(capacity: capacity, marks: marks)
                mounts.noticeTightness()
                log.info(
                    "capacity \(capacity.map { "\($0) bytes" } ?? "of the host"), marks \(marks.low) and \(marks.high)")
            }
            return CapacityReport(space)
        }
    }
}

extension CapacityRequest {
    fileprivate var changesAnything: Bool {
        capacity != nil || hostCapacity == true || lowWater != nil || highWater != nil
    }
}

extension CapacityReport {
    /// The figures of the ledger at this moment, in bytes.
    fileprivate init(_ space: SpaceLedger) {
        let figures = space.figures
        let marks = space.waterMarks
        self.init(
            capacity: space.capacity, total: figures.total, used: space.used, free: figures.free,
            available: figures.available, reserve: space.reserve, lowWater: marks.low, highWater: marks.high)
    }
}
