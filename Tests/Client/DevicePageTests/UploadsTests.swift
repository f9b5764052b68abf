// Files that come to a page's server in parts: whole ones go on to the device, and others are in nobody's way.

import ControlServer
import Testing

@testable import DevicePage

@Suite("Files that are dropped on a page")
struct UploadsTests {
    private let uploads = Uploads(device: DeviceReach(off: "the device is off") { nil }, isReadOnly: false)

    private func status(_ upload: String, at offset: Int = 0, isLast: Bool = false) async -> Int {
        let query = "app=com.example.Notes&name=file&upload=\(upload)&offset=\(offset)" + (isLast ? "&last" : "")
        let request = HTTPRequest(
            method: "POST", path: "/deliver", query: query, headers: [], body: Array("text".utf8),
            client: ClientDisconnect())
        return await uploads.response(to: request).status
    }

    @Test func `of many that are begun the one that waits longest gives way`() async {
        defer { uploads.end() }
        for number in 0..<Uploads.most { #expect(await status("\(number)") == 200) }
        // It goes on, and waits less than the others.
        #expect(await status("0", at: 4) == 200)
        #expect(await status("further") == 200)
        #expect(await status("0", at: 8) == 200)
        #expect(await status("1", at: 4) == 400)
    }

    @Test func `one that could not be delivered is gone`() async {
        defer { uploads.end() }
        #expect(await status("one") == 200)
        #expect(await status("one", at: 4, isLast: true) == 503)
        #expect(await status("one", at: 8) == 400)
    }
}
