// The requests that a device carries out: one table for each noun, beside the handlers.

extension DeviceService {
    /// All routes. A request is added to the table of its noun.
    static let routes: [Route<DeviceService>] =
        deviceRoutes + lockRoutes + appRoutes + mountRoutes + runningRoutes + suspensionRoutes + spaceRoutes
        + backupRoutes + inspectionRoutes + fileRoutes + eventRoutes + dayRoutes
}
