// Requests about the record of events. Following it has no type: it is the path `ControlPath.followedEvents`.

/// Lists the events of the device, the oldest first, as far back as the record goes.
public struct EventsRequest: ControlRequest {
    public typealias Reply = [Event]
    public static let path = "events"
    public static let isQuery = true

    public init() {}

    public func check() {}
}

/// Lists the rules that events name, in words.
public struct RulesRequest: ControlRequest {
    public typealias Reply = [RuleText]
    public static let path = "rules"
    public static let isQuery = true

    public init() {}

    public func check() {}
}
