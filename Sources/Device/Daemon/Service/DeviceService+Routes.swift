// The requests that a device carries out: one table for each noun, beside the handlers.

extension DeviceService {
    static let routes: [Route<DeviceService>] =
        deviceRoutes + lockRoutes + appRoutes + mountRoutes + runningRoutes + spaceRoutes + backupRoutes
        + inspectionRoutes + eventRoutes
}
