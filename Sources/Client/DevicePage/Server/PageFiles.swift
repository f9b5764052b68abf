// The files that the page's server has.

import SandboxModel

/// The page and the files that it names, made once.
struct PageFiles: Sendable {
    struct File: Sendable {
        let bytes: [UInt8]
        let type: String
    }

    /// The page with all that it has from its start, for one that a link opens.
    let opened: [UInt8]
    /// The page without any fact and secret: for a reload, and for anybody else who has the cookie.
    let shell: [UInt8]
    private let files: [String: File]

    /// - Parameter json: as ``PageData`` makes it.
    /// - Throws: ``Complaint`` of kind `unexpected`.
    init(with json: [UInt8]) throws(Complaint) {
        opened = try PageTemplate.shell(with: json)
        shell = try PageTemplate.shell(with: Array(#"{"mode":"live"}"#.utf8))
        files = [
            "/page.css": File(bytes: PageTemplate.style, type: "text/css; charset=utf-8"),
            "/page.js": File(bytes: PageTemplate.script, type: "text/javascript; charset=utf-8"),
            "/feed.js": File(bytes: PageTemplate.feed, type: "text/javascript; charset=utf-8"),
            "/worker.js": File(bytes: PageTemplate.worker, type: "text/javascript; charset=utf-8"),
        ]
    }

    func file(at path: String) -> File? { files[path] }
}
