/// The version of this library, of the command and of the daemon.
public let version = "0.2.0"
