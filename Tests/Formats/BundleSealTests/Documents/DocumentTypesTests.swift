// The items that an app accepts, by the document types of its Info.plist.

import BundleSeal
import Foundation
import Testing

@Suite struct DocumentTypesTests {
    private func types(_ list: [String: Any]) throws -> DocumentTypes {
        let data = try PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0)
        return try #require(DocumentTypes(decoding: Array(data)))
    }

    private func accepting(_ contentTypes: [String], _ more: [String: Any] = [:]) throws -> DocumentTypes {
        try types(more.merging(["CFBundleDocumentTypes": [["LSItemContentTypes": contentTypes]]]) { $1 })
    }

    // S-INBOX-7
    @Test func `an app without the key declares nothing, one with an empty list accepts nothing`() throws {
        #expect(try !types(["CFBundleIdentifier": "a"]).isDeclared)
        let none = try types(["CFBundleDocumentTypes": [Any]()])
        #expect(none.isDeclared && !none.accept("a.txt", isDirectory: false))
        #expect(try types(["CFBundleDocumentTypes": "text"]).isDeclared)
        #expect(DocumentTypes(decoding: Array("no list".utf8)) == nil)
    }

    @Test(arguments: [
        ("public.image", "a.png", true), ("public.image", "a.HEIC", true), ("public.image", "a.pdf", false),
        ("public.text", "a.csv", true), ("public.plain-text", "a.swift", true), ("public.plain-text", "a.rtf", false),
        ("public.content", "a.docx", true), ("public.content", "a.zip", false), ("PUBLIC.ZIP-archive", "a.zip", true),
        ("public.data", "a", true), ("public.data", "a.unknown", true), ("public.item", "a.unknown", true),
        ("public.movie", "a.mp4", true), ("public.audio", "a.mp4", false), ("com.adobe.pdf", ".pdf", false),
        ("public.archive", "a.tar.gz", true), ("public.xml", "a.svg", true),
    ])
    func `a file has the types of its extension, and all that these conform to`(
        type: String, name: String, isAccepted: Bool
    ) throws {
        #expect(try accepting([type]).accept(name, isDirectory: false) == isAccepted)
    }

    @Test func `a directory is a package by its extension, or a folder`() throws {
        let documents = try accepting(["com.apple.package"])
        #expect(documents.accept("a.rtfd", isDirectory: true) && documents.accept("a.pages", isDirectory: true))
        #expect(!documents.accept("a", isDirectory: true) && !documents.accept("a.txt", isDirectory: true))
        #expect(!documents.accept("a.rtfd", isDirectory: false))
        #expect(try accepting(["public.folder"]).accept("a.txt", isDirectory: true))
        #expect(try !accepting(["public.folder"]).accept("a.rtfd", isDirectory: true))
        for name in ["a", "a.rtfd"] {
            #expect(try accepting(["public.directory"]).accept(name, isDirectory: true))
            #expect(try accepting(["public.item"]).accept(name, isDirectory: true))
            #expect(try !accepting(["public.data"]).accept(name, isDirectory: true))
        }
        #expect(documents.names(of: "a", isDirectory: true) == ["public.folder"])
    }

    @Test func `declarations of the app count, by whatever way they conform`() throws {
        func declaration(_ type: String, _ above: Any, _ tail: Any) -> [String: Any] {
            [
                "UTTypeIdentifier": type, "UTTypeConformsTo": above,
                "UTTypeTagSpecification": ["public.filename-extension": tail],
            ]
        }
        let more: [String: Any] = [
            "UTExportedTypeDeclarations": [declaration("com.example.plan", "com.example.drawing", "plan")],
            "UTImportedTypeDeclarations": [
                declaration("com.example.drawing", ["public.image", "com.example.plan"], ["draw", "DRW"]),
                ["UTTypeConformsTo": "public.image"],
            ],
        ]
        let documents = try accepting(["com.example.drawing"], more)
        for name in ["a.plan", "a.draw", "a.drw"] { #expect(documents.accept(name, isDirectory: false)) }
        #expect(!documents.accept("a.png", isDirectory: false))
        #expect(try accepting(["public.image"], more).accept("a.plan", isDirectory: false))
        // Without a declaration a type is that of no file.
        #expect(try !accepting(["com.example.plan"]).accept("a.plan", isDirectory: false))
    }

    @Test
    func `extensions count where a document has no content types, and a document of rank or role None never does`()
        throws
    {
        let documents = try types([
            "CFBundleDocumentTypes": [
                ["CFBundleTypeExtensions": ["Cad"]],
                ["CFBundleTypeExtensions": ["txt"], "LSItemContentTypes": ["public.image"]],
                ["CFBundleTypeExtensions": ["zip"], "LSHandlerRank": "None"],
                ["LSItemContentTypes": ["public.movie"], "CFBundleTypeRole": "None"],
                ["LSItemContentTypes": 7],
            ]
        ])
        let accepted = ["a.CAD", "a.txt", "a.png", "a.zip", "a.mov", "a"].map {
            documents.accept($0, isDirectory: false)
        }
        #expect(accepted == [true, false, true, false, false, false])
        let all = try types(["CFBundleDocumentTypes": [["CFBundleTypeExtensions": ["*"]]]])
        #expect(all.accept("a", isDirectory: false) && all.accept("b.x", isDirectory: true))
    }

    // MARK: Limits

    /// Types of which each conforms to the next, and all of which have the extension `a`.
    private func chain(_ count: Int, above: Int = 1) -> [[String: Any]] {
        (0..<count).map { number in
            [
                "UTTypeIdentifier": "com.example.t\(number)",
                "UTTypeConformsTo": (1...above).map { "com.example.t\(number + $0)" },
                "UTTypeTagSpecification": ["public.filename-extension": ["a"]],
            ]
        }
    }

    @Test func `a long chain of types is followed once, not from each of its types`() throws {
        let documents = try accepting(["com.example.t3000"], ["UTExportedTypeDeclarations": chain(3000)])
        #expect(!documents.isExcessive)
        let start = ContinuousClock.now
        for _ in 0..<20 { #expect(documents.accept("b.a", isDirectory: false)) }
        #expect(documents.names(of: "b.a", isDirectory: false).count == 3000)
        // One walk from each type takes minutes.
        #expect(ContinuousClock.now - start < .seconds(20))
    }

    @Test(arguments: [(2000, 1, false), (5000, 1, true), (20_000, 1, true), (100, 50, true)])
    func `an app that declares more types than any app has is told so`(count: Int, above: Int, isExcessive: Bool) throws
    {
        for key in ["UTExportedTypeDeclarations", "UTImportedTypeDeclarations"] {
            let documents = try accepting(["public.text"], [key: chain(count, above: above)])
            #expect(documents.isExcessive == isExcessive)
        }
    }

    @Test func `an app that takes more types than any app has is told so`() throws {
        #expect(try accepting((0..<5000).map { "com.example.t\($0)" }).isExcessive)
    }
}
