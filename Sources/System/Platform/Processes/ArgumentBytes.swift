// The command line as bytes.

import CProcess

public enum ArgumentBytes {
    /// Has `CommandLine` know the arguments without /proc, which it reads them from otherwise. To be called once,
    /// before its first use.
    public static func keepWithoutProc() {
        process_use_own_arguments()
    }

    /// The first argument that is not UTF-8, with U+FFFD for the invalid bytes. `CommandLine.arguments` repairs
    /// arguments silently, so that they name other files or none.
    public static func firstNotUTF8() -> String? {
        for index in 0..<Int(CommandLine.argc) {
            // The vector lives as long as the process, is never changed, and each argument ends with NUL.
            guard let argument = unsafe CommandLine.unsafeArgv[index] else { return nil }
            if unsafe String(validatingCString: argument) == nil { return unsafe String(cString: argument) }
        }
        return nil
    }
}
