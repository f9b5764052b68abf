// The values of an address.

import Testing

@testable import DevicePage

@Suite("The values of an address")
struct QueryTextTests {
    @Test func `names and values are decoded`() {
        let query = QueryText("app=com.example.Notes&name=a%20b%26c%C3%A9&last&empty=")
        #expect(query["app"] == "com.example.Notes")
        #expect(query["name"] == "a b&cé")
        #expect(query["last"] == "")
        #expect(query["empty"] == "")
        #expect(query["other"] == nil)
    }

    @Test(arguments: ["name=%", "name=%4", "name=%GG", "name=%+5", "name=%-5", "name=%FF"])
    func `what is no text has no value`(text: String) {
        #expect(QueryText(text)["name"] == nil)
    }

    @Test func `the first of several values counts`() {
        #expect(QueryText("a=1&a=2")["a"] == "1")
    }
}
