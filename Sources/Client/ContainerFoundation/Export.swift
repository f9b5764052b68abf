// What an app imports in place of Foundation. On Apple's systems this file is all of it, and nothing is changed there.
// On Linux the folder beside it has what Foundation lacks there, and what it takes without doing anything: who imports
// this module only, and not Foundation beside it, gets these declarations for Foundation's of the same name.

@_exported public import Foundation

// The package has that folder where its manifest is read on Linux. Without it every call would compile, and do nothing.
#if os(Linux) && !LINUX_HOST
    #error("ContainerFoundation for Linux is built on Linux: a package that is cross-compiled for it lacks its sources")
#endif
