// The program that scripts/fuzz runs: one target, by libFuzzer.

import CFuzzer
import FuzzTargets
import Glibc

@main
enum Fuzzer {
    /// The target that APPCONTAINER_FUZZ_TARGET names.
    static let target: FuzzTarget = {
        let name = unsafe getenv("APPCONTAINER_FUZZ_TARGET").map { unsafe String(cString: $0) } ?? ""
        guard let target = FuzzTarget.named(name) else {
            print("fuzz: there is no target '\(name)'; give one of:", FuzzTarget.all.map(\.name).joined(separator: " "))
            exit(64)
        }
        return target
    }()

    static func main() {
        // Named before the first input.
        _ = target
        var count = CommandLine.argc
        var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = unsafe CommandLine.unsafeArgv
        exit(
            unsafe LLVMFuzzerRunDriver(&count, &arguments) { bytes, size in
                unsafe Fuzzer.target.run(Array(UnsafeBufferPointer(start: bytes, count: size)))
                return 0
            })
    }
}
