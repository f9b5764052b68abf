// Malicious property lists in bundles, and long valid ones.

import Foundation
import SandboxModel
import TestSupport
import Testing

@testable import BundleSeal

@Suite struct BundlePropertyListTests {
    private static let head = #"<?xml version="1.0" encoding="UTF-8"?>"#
    private static let type =
        #"<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">"#
    private static let deep = String(repeating: "<array>", count: 20_000)
    private static let ends = String(repeating: "</array>", count: 20_000)

    /// Whether a list can be decoded. One that is nested too deep would end this process.
    private func isRead(_ text: String) -> Bool { isRead(Array(text.utf8)) }

    private func isRead(_ bytes: [UInt8]) -> Bool {
        _ = try? BundleInformation(decoding: bytes, bundleName: "Notes.app")
        return (try? CodeResources(decoding: bytes)) != nil
    }

    @Test(arguments: [
        "<plist><dict/></plist>", "<plist version=\"1.0\"><dict></dict></plist>",
        "\(head)\(type)<plist><dict/></plist>", "<?xml version='1.0' encoding = 'utf-8' ?><plist><dict/></plist>",
        "\u{FEFF}\(head)\n<plist>\n<dict/>\n</plist>\n", "<plist><!-- <array><array> --><dict/></plist>",
        "<plist><!----><dict /></plist>", "\(head)<?other one?><plist><dict/></plist>",
    ])
    func `a list is read in every way that one is written`(list: String) {
        #expect(isRead(list))
    }

    @Test func `a list may be long, with as many flags and empty values as it likes`() {
        let values = (0..<500).map { "<key>\($0)</key><true/><key>a\($0)</key><false /><key>b\($0)</key><dict/>" }
        #expect(isRead("<plist><dict>\(values.joined())</dict></plist>"))
        let files = (0..<200).map {
            "<key>en.lproj/\($0)</key><dict><key>hash2</key><data>AAAA</data><key>optional</key><true/></dict>"
        }
        #expect(isRead("<plist><dict><key>files2</key><dict>\(files.joined())</dict></dict></plist>"))
    }

    /// Arguments are indices, as the texts are too long for a report.
    private static let hostile = [
        deep, "<plist>\(deep)", "<plist>\(deep)\(ends)</plist>", "\(head)\(type)<plist>\(deep)\(ends)</plist>",
        "<plist>" + String(repeating: "<dict><key>a</key>", count: 20_000),
        // End tags that a parser does not see.
        "<?x \(ends)?><plist>\(deep)", "<?x \(String(repeating: "</", count: 20_000))?><plist>\(deep)",
        "<!-- \(ends) --><plist>\(deep)", "<!DOCTYPE plist PUBLIC \"\(ends)\" \"\"><plist>\(deep)",
        "<!DOCTYPE plist PUBLIC \(String(repeating: "</", count: 20_000))><plist>\(deep)",
        "<plist a=\"\(String(repeating: "</", count: 20_000))\">\(deep)", "<plist a=\"\(ends)\">\(deep)",
        "<plist>" + String(repeating: "<array a=\"/>\">", count: 20_000),
        "<plist>" + String(repeating: "<array a='/>'>", count: 20_000),
        "<plist>" + String(repeating: "<array / >", count: 20_000),
        "<plist><![CDATA[\(ends)]]>\(deep)", "<plist><string><![CDATA[\(ends)]]></string>\(deep)",
        "<plist><!-- -- >\(ends)--><array>\(deep)", "<!--><plist>\(deep)", "\(ends)<plist>\(deep)",
        "<!DOCTYPE plist [<!ENTITY a \"<array>\">]><plist>&a;</plist>",
        "<!DOCTYPE plist PUBLIC \"\" \"\" [<!ENTITY a \"<array>\">]><plist>&a;</plist>",
        "<!DOCTYPE plist SYSTEM \"/etc/passwd\"><plist><dict/></plist>",
        // An encoding in which other bytes are tags.
        "<?xml version=\"1.0\" encoding=\"UTF-7\"?>" + String(repeating: "+ADw-array+AD4-", count: 20_000),
        "<?xml version=\"1.0\" encoding=\"ISO-2022-JP\"?><plist><dict/></plist>",
        "<?xml version=\"encoding='utf-8'\" encoding=\"UTF-16\"?><plist><dict/></plist>",
        "{a=" + String(repeating: "(", count: 20_000), "bplist=" + String(repeating: "(", count: 20_000),
        "bplist=" + String(repeating: "{a=", count: 20_000), "bplist<plist>\(deep)", "bplist00<plist>\(deep)",
        "bplist00 \(head)<plist>\(deep)", "\u{0}<plist>\(deep)", "/* */ <plist>\(deep)", "// \n<plist>\(deep)",
    ]

    @Test(arguments: hostile.indices) func `a list that would take the stack is refused`(number: Int) {
        #expect(!isRead(Self.hostile[number]))
    }

    @Test(arguments: [
        ("<?x ", " ?>"), ("<?>", "?>"), ("<?", "?>"), ("<!--", "-->"), ("<!-->", "-->"), ("<!--->", "-->"),
        ("<!-- -- >", "-->"), ("<!-- --", "-->"), ("<![CDATA[", "]]>"), ("<string>", "</string>"),
        ("<string><![CDATA[", "]]></string>"), ("<array a=\"", "\"/>"), ("<array a='", "'/>"), ("<array>\"", "\""),
        ("<array a=\">", "\"/>"), ("<!DOCTYPE plist PUBLIC \"", "\">"), ("<!DOCTYPE plist PUBLIC [", "]>"),
        ("<!DOCTYPE plist PUBLIC \">", "\">"), ("<!x>", "</!x>"), ("</array a=\">", "\">"), ("<?x a=\"?>", "\"?>"),
    ])
    func `end tags that a parser may not see take nothing off`(opening: String, closing: String) {
        // Never nested deeper than 64.
        let turn = "<array><array><array/>\(opening)</array></array>\(closing)"
        #expect(!isRead("<plist>" + String(repeating: turn, count: 20_000)))
    }

    @Test(arguments: [String.Encoding.utf16LittleEndian, .utf16BigEndian, .utf32LittleEndian, .utf32BigEndian])
    func `lists of other encodings are refused`(encoding: String.Encoding) {
        for mark in ["", "\u{FEFF}"] {
            #expect(!isRead([UInt8]("\(mark)<plist>\(Self.deep)".data(using: encoding)!)))
        }
    }

    // MARK: Binary lists

    /// A binary list of objects, with references of four bytes.
    private func binary(_ objects: [[UInt8]], top: UInt64 = 0) -> [UInt8] {
        var bytes = Array("bplist00".utf8)
        var offsets: [UInt32] = []
        for object in objects {
            offsets.append(UInt32(bytes.count))
            bytes += object
        }
        let table = UInt64(bytes.count)
        for offset in offsets { bytes.append(word: offset) }
        bytes += [0, 0, 0, 0, 0, 0, 4, 4]
        for number in [UInt64(objects.count), top, table] { bytes.append(longWord: number) }
        return bytes
    }

    private func reference(_ number: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(word: UInt32(number))
        return bytes
    }

    @Test func `a binary list nested deep, or into itself, does no harm`() {
        let files: [UInt8] = [0x55] + Array("files".utf8)
        let count = 50_000
        // files → array → array → …
        let arrays = (0..<count).map { [0xA1] + reference($0 + 3) } + [[0xA0]]
        _ = isRead(binary([[0xD1] + reference(1) + reference(2), files] + arrays))
        let dictionaries = (0..<count).map { [0xD1] + reference(1) + reference($0 + 3) } + [[0xD0]]
        _ = isRead(binary([[0xD1] + reference(1) + reference(2), files] + dictionaries))
        #expect(!isRead(binary([[0xD1] + reference(1) + reference(0), files])))
        #expect(!isRead(binary([[0xA1] + reference(0)])))
        // Each level twice as wide as the one below.
        let wide = (0..<60).map { [0xA2] + reference($0 + 3) + reference($0 + 3) } + [[0x09]]
        _ = isRead(binary([[0xD1] + reference(1) + reference(2), files] + wide))
        // A count of objects above the real one.
        #expect(!isRead(binary([[0xD1] + reference(1) + reference(9), files])))
        #expect(!isRead(binary([[0xDF, 0x13, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]])))
        #expect(!isRead(binary([[0x5F, 0x13, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]])))
    }

    // MARK: Rules and digests

    @Test func `an app with many localized files stays valid`() throws {
        let app = try SampleApp()
        try app.write("Info.plist", SampleApp.information("a.b", executable: nil))
        for number in 0..<150 { try app.write("en.lproj/\(number).strings", "\(number)") }
        #expect(try app.seal().breaks() == [])
    }
}
