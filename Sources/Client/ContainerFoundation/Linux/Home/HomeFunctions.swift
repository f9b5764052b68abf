// Foundation's functions for paths of the home, in terms of the current home. The names are Foundation's.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import Foundation
import Platform

/// The path of the home directory: the app's home, if there is one.
public func NSHomeDirectory() -> String {
    ContainerHome.path ?? Foundation::NSHomeDirectory()
}

/// The path of a user's home directory. In an app's home it is the same for all users, as on iOS.
public func NSHomeDirectoryForUser(_ user: String?) -> String? {
    ContainerHome.path ?? Foundation::NSHomeDirectoryForUser(user)
}

/// The path of the directory for temporary files, with a slash at its end.
///
/// `tmp` in a task's home. Otherwise `TMPDIR`, which `appcontainer run` sets to the home's `tmp`.
public func NSTemporaryDirectory() -> String {
    guard ContainerHome.current != nil, let home = ContainerHome.path else {
        return Foundation::NSTemporaryDirectory()
    }
    return home + "/tmp/"
}

/// The paths of a standard directory in the given domains.
///
/// - Parameters:
///   - directory: such as `documentDirectory`.
///   - domainMask: only `userDomainMask` has directories of a container.
///   - expandTilde: whether paths of the home are absolute; otherwise they begin with `~`.
public func NSSearchPathForDirectoriesInDomains(
    _ directory: FileManager.SearchPathDirectory, _ domainMask: FileManager.SearchPathDomainMask, _ expandTilde: Bool
) -> [String] {
    let home = NSHomeDirectory()
    return FileManager.default.urls(for: directory, in: domainMask).map { url in
        let path = url.path
        guard !expandTilde, let rest = HostPath.rest(of: path, in: home), !rest.isEmpty else { return path }
        return "~/" + rest
    }
}
