// Files of a bundle, stored as they are.

public import Platform
public import SandboxModel

extension StoreContext {
    /// Reads a file that is not encrypted and lends its bytes to `body`.
    public func read(
        plain file: SharedDescriptor, count: Int, from offset: Int64, _ body: (ReadResult) -> Void
    ) throws(Fault) {
        let workspace = workspaces.take()
        defer { workspaces.give(workspace) }
        let got = try onHost { () throws(SystemError) in
            try file.descriptor.read(
                into: workspace.image, count: min(count, Workspace.largestTransfer), from: offset)
        }
        if got > 0 { workspace.append(workspace.image, offset: 0, count: got) }
        body(ReadResult(workspace))
    }
}
