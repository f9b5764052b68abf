// The handlers of requests about the record of events.

import AppContainer
import BackingStore
import DeviceLifecycle
import Platform
import SandboxModel

extension DeviceService {
    /// The requests about events.
    static let eventRoutes: [Route<DeviceService>] = [
        .call(recordedEvents), .follow(followEvents), .call(rules),
    ]

    /// The rules by which calls are refused and processes ended, in words.
    func rules(_ request: RulesRequest) throws(Complaint) -> [RuleText] {
        Rule.allCases.map { RuleText(rule: $0.rawValue, words: $0.words, instead: $0.instead) } + [
            RuleText(
                rule: SuspensionBreach.reason, words: Explanation.wordsOfLock, instead: Explanation.insteadOfLock)
        ]
    }

    /// The events of the record, the oldest first.
    func recordedEvents(_ request: EventsRequest) throws(Complaint) -> [Event] {
        // The record is complete then: no refusal is still uncounted.
        mounts.reportOmissions()
        return try EventRecord.entries(of: device.directory.path).map(\.event)
    }

    /// The events of the record, and then each as it comes. The subscription lasts as long as the response refers to
    /// it.
    /// - Throws: ``Complaint`` with the error of open(2) or fstat(2).
    func followEvents() throws(Complaint) -> EventSubscription {
        try Complaint.wrap("cannot read the events of \(device.directory.path)") { () throws(SystemError) in
            try events.follow()
        }
    }
}
