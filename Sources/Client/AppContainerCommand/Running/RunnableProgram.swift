// Runs a program in an app's container, from the device's lease to its end.

import AppContainer
import ArgumentParser
import Daemon
import FoundationEssentials
import Platform
import SandboxModel

/// A program for an app's container: a command, or the bundle's main executable. Exactly one call of ``run()`` or
/// ``launch()`` has to follow, as that ends the lease.
struct RunnableProgram {
    /// The device counts the app as running until the lease ends.
    private let lease: RunLease
    /// The program and its arguments.
    private let command: [String]
    /// Whether the program outlives this command, as for `launch`.
    private let isDetached: Bool
    /// nil to run without bubblewrap.
    private let confinement: Confinement?
    private let environment: RunEnvironment

    /// Has the device prepare the app, and mark it as running.
    /// - Throws: ``Complaint`` if the app may not run, or has no executable.
    /// - Parameter command: empty for the bundle's main executable.
    init(
        _ request: RunRequest, on device: DeviceArgument, _ command: [String], _ confinement: Confinement? = nil,
        _ environment: RunEnvironment = RunEnvironment()
    ) async throws {
        let lease = try await showingProgress { line in try await device.run(request, progress: line.report) }
        guard let first = command.first ?? lease.app.executable else {
            await lease.end()
            throw Complaint(
                .invalidApp, "the Info.plist of \(request.app) names no executable; name a command after --")
        }
        self.lease = lease
        self.command = [first] + command.dropFirst()
        self.confinement = confinement
        self.environment = environment
        isDetached = request.detached ?? false
    }

    /// Runs the program, waits for its end, and ends the lease.
    /// - Throws: ``RunFailure/cannotStart(_:_:)``, or ``Complaint``.
    func run() async throws -> ChildProcess.End {
        do {
            let child = try await start()
            let end = try ended(child)
            await lease.end()
            return end
        } catch {
            await lease.end()
            throw error
        }
    }

    /// Starts the program without waiting for it. The lease of a detached program then lasts as long as its process,
    /// which the device watches.
    /// - Returns: its process id.
    func launch() async throws -> Int32 {
        do {
            return try await start().identifier
        } catch {
            await lease.end()
            throw error
        }
    }

    /// Starts the process. The device knows its id before it executes the command, so that `terminate` and a lost
    /// connection never miss it.
    private func start() async throws -> ChildProcess {
        let variables = environment.variables(of: lease.app, isConfined: confinement != nil)
        var plan = ChildProcess.Plan(
            arguments: command, environment: variables.map { "\($0)=\($1)" }.sorted(),
            directory: lease.app.mountPoint, isDetached: isDetached)
        try requireReach(lease.app.mountPoint)
        if let confinement { try confinement.confine(&plan, to: lease.app) }
        // By which the device suspends the app.
        plan.group = ControlGroup.forProgram()
        let child: ChildProcess
        do throws(SystemError) {
            child = try ChildProcess(plan)
        } catch {
            throw Complaint(error, doing: "cannot start a process")
        }
        do throws(DeviceError) {
            try await lease.announce(child.identifier, supervisor: child.supervisor)
        } catch {
            child.abandon()
            // ^C killed it first: no error.
            if !isDetached, case .killed? = try? child.wait() { return child }
            throw Complaint(error)
        }
        do throws(SystemError) {
            try child.start()
        } catch {
            throw RunFailure.cannotStart(command[0], error)
        }
        return child
    }

    /// A superuser's command runs the program as the device's owner, whom the way to a mount may be closed to.
    private func requireReach(_ mountPoint: String) throws(Complaint) {
        guard ActingUser.isActing else { return }
        do throws(SystemError) {
            _ = try Descriptor.openDirectory(path: mountPoint)
        } catch {
            throw Complaint(
                .notAllowed,
                "the app is mounted at \(mountPoint), which the owner of the device, as whom the command runs, cannot "
                    + "reach (\(error.message)); unmount it there, or mount it elsewhere")
        }
    }

    /// Waits for the end of the process.
    private func ended(_ child: ChildProcess) throws(Complaint) -> ChildProcess.End {
        do throws(SystemError) {
            return try child.wait()
        } catch {
            throw Complaint(error, doing: "cannot wait for the command")
        }
    }
}
