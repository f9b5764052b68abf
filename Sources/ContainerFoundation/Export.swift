// What an app imports in place of Foundation. On Apple's systems this file is all of it, and nothing is changed there.
// On Linux the folder beside it has what Foundation lacks there, and what it takes without doing anything: who imports
// this module only, and not Foundation beside it, gets these declarations for Foundation's of the same name.

@_exported public import Foundation
