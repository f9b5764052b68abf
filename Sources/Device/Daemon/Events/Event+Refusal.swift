// The events made from refused calls: one for a call, one for those that the limit left out, one for bytes lost to a
// lock.

import AppContainer
import ContainerMount
import ContainerVolume
import Platform
import SandboxModel

extension Event {
    /// A refused call, with the number of earlier ones that were left out.
    init(_ refused: RefusedCall) {
        self.init(
            .refused, app: refused.place.app?.text, path: refused.place.path, operation: refused.call.rawValue,
            pid: refused.process?.id, process: refused.process?.name, rule: refused.rule.rawValue,
            errno: refused.error.name)
        if refused.place.cut > 0 { pathCut = refused.place.cut }
        if refused.omitted > 0 { omitted = refused.omitted }
    }

    /// The refusals that were left out of a flood, when no later event can carry their number.
    init(_ omission: RefusalLimit.Omission) {
        self.init(
            .refused, pid: omission.process, process: omission.name, rule: omission.rule.rawValue,
            errno: SystemError.notPermitted.name)
        omitted = omission.count
    }

    /// The number of occurrences that are missing from the record when this event could not be written.
    var weight: Int { (isSummary ? 0 : 1) + (omitted ?? 0) }

    /// Bytes that an application wrote while the device locked, and that were not stored.
    init(_ lost: LostRange) {
        // By thread and time, because the writer may have ended since.
        let process = lost.writer.flatMap { HostProcess(ofThread: $0.thread, asOf: $0.time) }
        self.init(
            .refused, app: lost.place.app?.text, path: lost.place.path, operation: CallName.write.rawValue,
            pid: process?.id, process: process?.name, rule: Rule.dataProtection.rawValue, errno: "EPERM",
            range: Event.Range(offset: lost.range.lowerBound, length: Int64(lost.range.count)))
        if lost.place.cut > 0 { pathCut = lost.place.cut }
    }
}
