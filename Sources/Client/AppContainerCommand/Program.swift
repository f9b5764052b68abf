// The program's first steps, before any command is known.

import AppContainer
import Dispatch
import Glibc
import SandboxModel

@main
enum Program {
    /// Answers `--version` by itself: scripts ask for it often, and threads and the command parser take most of its time.
    static func main() {
        guard CommandLine.arguments.dropFirst() != ["--version"] else {
            do throws(Complaint) {
                try Output.line(AppContainer.version)
            } catch {
                AppContainerCommand.end(with: error)
            }
            exit(EXIT_SUCCESS)
        }
        Task {
            await AppContainerCommand.main()
            // An async main would do this; dispatchMain() does not return.
            exit(EXIT_SUCCESS)
        }
        dispatchMain()
    }
}
