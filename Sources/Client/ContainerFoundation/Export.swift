// The module that an app imports in place of Foundation. On Apple's systems it is this file alone, which changes
// nothing. On Linux the folder beside it adds declarations that Foundation lacks there, and shadows those that do
// nothing there. They take effect in files that import this module and not Foundation too.

@_exported public import Foundation

// The package contains that folder only if its manifest is read on Linux. Without it every call would compile and do
// nothing.
#if os(Linux) && !LINUX_HOST
    #error("ContainerFoundation for Linux is built on Linux: a package that is cross-compiled for it lacks its sources")
#endif
