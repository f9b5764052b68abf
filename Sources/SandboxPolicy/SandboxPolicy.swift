// SandboxPolicy
