// The program's entry point.

import AppContainer
import Dispatch
import Glibc
import Platform
import SandboxModel

@main
enum Program {
    /// Answers `--version` first, because scripts ask for it often, and threads and the parser would take most of the
    /// time.
    static func main() {
        // Before the first thread: libdispatch opens descriptors of its own, and would take a closed standard one's
        // number.
        ProcessSettings.occupyStandardDescriptors()
        ArgumentBytes.keepWithoutProc()
        // Writing to a daemon that has ended must be an error to report, not a silent death.
        signal(SIGPIPE, SIG_IGN)
        guard CommandLine.arguments.dropFirst() != ["--version"] else {
            do throws(Complaint) {
                try Output.line(AppContainer.version)
            } catch {
                AppContainerCommand.end(with: error)
            }
            exit(EXIT_SUCCESS)
        }
        // Before the first task, as libdispatch needs it.
        do throws(Complaint) {
            try ProcFileSystem.require()
        } catch {
            AppContainerCommand.refuse(error)
        }
        Task {
            await AppContainerCommand.main()
            // An async main would do this; dispatchMain() does not return.
            exit(EXIT_SUCCESS)
        }
        dispatchMain()
    }
}
