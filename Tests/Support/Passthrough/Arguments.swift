// The command line: passthrough SOURCE MOUNTPOINT [--transport auto|dev-fuse|io-uring].

import FuseBridge
import Glibc
import Platform
import SandboxModel

/// An error that ends the program: one line, and an exit code of <sysexits.h>.
struct Failure: Error {
    let message: String
    let code: Int32

    /// EX_USAGE.
    static func usage(_ message: String) -> Failure { Failure(message: message, code: 64) }
    /// EX_NOINPUT.
    static func input(_ message: String) -> Failure { Failure(message: message, code: 66) }

    static func mount(_ failure: MountFailure) -> Failure {
        let code: Int32 =
            switch failure.kind {
            case .mountPoint: 66
            // EX_UNAVAILABLE, EX_CONFIG, EX_OSERR.
            case .unavailable: 69
            case .configuration: 78
            case .busy, .refused: 71
            }
        return Failure(message: failure.message, code: code)
    }
}

struct Arguments {
    static let usage = "usage: passthrough SOURCE MOUNTPOINT [--transport auto|dev-fuse|io-uring]"

    let source: String
    let mountPoint: String
    let transport: TransportChoice

    /// - Parameter words: without the program's name.
    init(_ words: some Sequence<String>) throws(Failure) {
        var paths: [String] = []
        var transport = TransportChoice.automatic
        var isValue = false
        for word in words {
            if isValue {
                guard let choice = TransportChoice(rawValue: word) else {
                    throw .usage("'\(word)' is no transport: auto, dev-fuse or io-uring")
                }
                transport = choice
                isValue = false
            } else if word == "--transport" {
                isValue = true
            } else if word.hasPrefix("-") {
                throw .usage("there is no option '\(word)'; \(Arguments.usage)")
            } else {
                paths.append(word)
            }
        }
        guard !isValue else { throw .usage("--transport needs a value: auto, dev-fuse or io-uring") }
        guard paths.count == 2 else { throw .usage(Arguments.usage) }
        (source, mountPoint, self.transport) = (paths[0], paths[1], transport)
    }

    /// - Throws: a failure if one of them is no directory, or if the mount would lie in what it shows: a request would
    ///   wait for another of the same mount.
    func check() throws(Failure) {
        for path in [source, mountPoint] {
            do throws(SystemError) {
                guard try HostPath.status(path).kind == .directory else {
                    throw SystemError.notDirectory
                }
            } catch {
                throw .input("\(path): \(error.message)")
            }
        }
        let isInside: Bool
        do throws(SystemError) {
            isInside = try HostPath.holds(source, mountPoint)
        } catch {
            throw .input("\(mountPoint): \(error.message)")
        }
        if isInside { throw .usage("\(mountPoint) lies in \(source): mount elsewhere") }
    }
}
