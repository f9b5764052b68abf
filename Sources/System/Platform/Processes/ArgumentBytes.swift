// The command line as the process was given it.

public enum ArgumentBytes {
    /// The first argument that is not UTF-8, with U+FFFD for what is not; CommandLine.arguments has all of them in
    /// that form, where they name other files or none, and does not tell.
    public static func firstNotUTF8() -> String? {
        for index in 0..<Int(CommandLine.argc) {
            // The kernel's vector lives as long as the process, ends every argument with a NUL, and nobody changes it.
            guard let argument = unsafe CommandLine.unsafeArgv[index] else { return nil }
            if unsafe String(validatingCString: argument) == nil { return unsafe String(cString: argument) }
        }
        return nil
    }
}
