// The page as a file and as a shell: whole, and with a policy that lets nothing else run.

import AppContainer
import Foundation
import Testing

@testable import DevicePage

@Suite("The page as a file")
struct PageTemplateTests {
    private struct Hostile: Encodable {
        let name = "</script><script>alert(1)</script><!-- \u{202E} \u{2028} \u{7F} \u{9B} é 😀"
    }

    @Test func `no text ends the element that the data is in`() throws {
        let json = try PageData.json(Hostile())
        #expect(json.allSatisfy { (0x20...0x7E).contains($0) })
        for byte in "<>&".utf8 { #expect(!json.contains(byte)) }
        let read = try JSONDecoder().decode([String: String].self, from: Data(json))
        #expect(read["name"] == Hostile().name)
    }

    @Test func `every place is filled, and the data is not looked at for places`() throws {
        let data = Array(#""%SCRIPTS% %STYLE% %POLICY%""#.utf8)
        let page = String(decoding: try PageTemplate.file(with: data), as: UTF8.self)
        #expect(page.components(separatedBy: "%SCRIPTS%").count == 2)
        #expect(!page.contains("\"%DATA%\""))
        #expect(page.hasPrefix("<!DOCTYPE html>"))
    }

    @Test func `the file's policy has the hashes of its script and style, and nothing that lets others run`() throws {
        let page = String(decoding: try PageTemplate.file(with: Array("{}".utf8)), as: UTF8.self)
        #expect(page.components(separatedBy: "'sha256-").count == 3)
        for word in ["unsafe-inline", "unsafe-eval", "http:", "https:"] {
            #expect(!page.prefix(2000).contains(word), "\(word)")
        }
    }

    @Test func `the shell names its files, and has no script of its own`() throws {
        let page = String(decoding: try PageTemplate.shell(with: Array("{}".utf8)), as: UTF8.self)
        #expect(page.contains(#"<script src="/page.js"#))
        #expect(page.components(separatedBy: "<script").count == 3)
    }
}
