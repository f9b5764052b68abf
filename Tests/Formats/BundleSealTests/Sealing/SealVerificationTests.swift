// Every way to break a seal, and the breaks that a verification reports.

import Foundation
import Platform
import SandboxModel
import TestSupport
import Testing

@testable import BundleSeal

@Suite struct SealVerificationTests {
    // MARK: Files and links

    static let files = [
        SealChange("a byte of a file", ["changed readme.txt"]) { try $0.flip("readme.txt", at: 0) },
        SealChange("the last byte of a larger file", ["changed Assets/deep/er/a.bin"]) {
            try $0.flip("Assets/deep/er/a.bin", at: -1)
        },
        SealChange("a file cut", ["changed readme.txt"]) { try $0.change("readme.txt") { Array($0.dropLast()) } },
        SealChange("a file grown", ["changed readme.txt"]) { try $0.change("readme.txt") { $0 + [0] } },
        SealChange("a file emptied", ["changed readme.txt"]) { try $0.write("readme.txt", "") },
        SealChange("an empty file filled", ["changed empty"]) { try $0.write("empty", "x") },
        SealChange("a file whose name is not ASCII", ["changed Übung Ω/naïve ✎.txt"]) {
            try $0.flip("Übung Ω/naïve ✎.txt", at: 0)
        },
        SealChange("a file added", ["added new"]) { try $0.write("new", "") },
        SealChange("a file added deep", ["added Assets/deep/new/er"]) { try $0.write("Assets/deep/new/er", "") },
        SealChange("a link added", ["added new"]) { try $0.link("new", to: "readme.txt") },
        SealChange("a file removed", ["missing readme.txt"]) { try $0.remove("readme.txt") },
        SealChange("an empty file removed", ["missing empty"]) { try $0.remove("empty") },
        SealChange("a file renamed", ["added readme2.txt", "missing readme.txt"]) {
            try $0.move("readme.txt", to: "readme2.txt")
        },
        SealChange("a file's name in other letters", ["added README.txt", "missing readme.txt"]) {
            try $0.move("readme.txt", to: "README.txt")
        },
        SealChange("two files exchanged", ["changed empty", "changed readme.txt"]) {
            try $0.move("readme.txt", to: "x")
            try $0.move("empty", to: "readme.txt")
            try $0.move("x", to: "empty")
        },
        SealChange("a directory renamed", ["added Assets/Deep/er/a.bin", "missing Assets/deep/er/a.bin"]) {
            try $0.move("Assets/deep", to: "Assets/Deep")
        },
        SealChange("a directory without files added") { try $0.makeDirectory("void/void") },
        SealChange("a link that leads elsewhere", ["changed link"]) {
            try $0.remove("link")
            try $0.link("link", to: "empty")
        },
        SealChange("a link that leads there another way", ["changed link"]) {
            try $0.remove("link")
            try $0.link("link", to: "./readme.txt")
        },
        SealChange("a link removed", ["missing link"]) { try $0.remove("link") },
        SealChange("a link that became the file it led to", ["changed link"]) {
            try $0.remove("link")
            try $0.copy("readme.txt", to: "link")
        },
        SealChange("a file that became a link to its like", ["added copy", "changed readme.txt"]) {
            try $0.move("readme.txt", to: "copy")
            try $0.link("readme.txt", to: "copy")
        },
        SealChange("a file that became a directory", ["added readme.txt/readme.txt", "missing readme.txt"]) {
            try $0.move("readme.txt", to: "x")
            try $0.move("x", to: "readme.txt/readme.txt")
        },
        SealChange("a file that became an empty directory", ["missing readme.txt"]) {
            try $0.remove("readme.txt")
            try $0.makeDirectory("readme.txt")
        },
        SealChange("a link that became a directory", ["missing link"]) {
            try $0.remove("link")
            try $0.makeDirectory("link")
        },
        SealChange(
            "a directory that became a link",
            ["added Assets/deep", "added else/er/a.bin", "missing Assets/deep/er/a.bin"]
        ) {
            try $0.move("Assets/deep", to: "else")
            try $0.link("Assets/deep", to: "../else")
        },
        SealChange(
            "a directory that became a file", ["added Assets", "missing Assets/deep/er/a.bin", "missing Assets/up"]
        ) {
            try $0.remove("Assets")
            try $0.write("Assets", "")
        },
    ]

    @Test(arguments: files) func `files and links are what was sealed`(_ change: SealChange) throws {
        try change.check()
    }

    @Test func `a file that no seal can hold breaks a seal`() throws {
        let app = try SampleApp.whole().seal()
        let twin: FileName = "nai\u{308}ve ✎.txt"
        let directory = try app.directory("Übung Ω")
        try directory.open(twin, flags: O_WRONLY | O_CREAT, mode: 0o644).append(app.read("Übung Ω/naïve ✎.txt"))
        #expect(try app.breaks() == ["added Übung Ω/naïve ✎.txt"])
        try directory.removeFile(twin)
        let bytes = FileName([0xFF])!
        _ = try app.root.descriptor.open(bytes, flags: O_WRONLY | O_CREAT, mode: 0o644)
        #expect(try app.breaks() == ["added \u{FFFD}"])
        try app.root.descriptor.removeFile(bytes)
        #expect(try app.breaks() == [])
        try app.remove("readme.txt")
        try app.root.descriptor.makeNode("readme.txt", mode: S_IFIFO | 0o600)
        try app.root.descriptor.makeNode("pipe", mode: S_IFIFO | 0o600)
        #expect(try app.breaks() == ["added pipe", "changed readme.txt"])
    }

    // MARK: Harmless changes

    static let free = [
        SealChange("a .DS_Store added") { try $0.write(".DS_Store", "x") },
        SealChange("a .DS_Store added deep") { try $0.write("Assets/deep/.DS_Store", "x") },
        SealChange("PkgInfo changed") { try $0.flip("PkgInfo", at: 0) },
        SealChange("PkgInfo removed") { try $0.remove("PkgInfo") },
        SealChange("the version of a localization") { try $0.write("en.lproj/locversion.plist", "x") },
        SealChange("the version of the base localization") { try $0.write("Base.lproj/locversion.plist", "x") },
        SealChange("a localization removed") { try $0.remove("en.lproj") },
        SealChange("a localized file removed") { try $0.remove("en.lproj/Localizable.strings") },
        SealChange("a localized file changed", ["changed en.lproj/Localizable.strings"]) {
            try $0.flip("en.lproj/Localizable.strings", at: 0)
        },
        SealChange("a localized file added", ["added en.lproj/x"]) { try $0.write("en.lproj/x", "") },
        SealChange("a localization added", ["added de.lproj/x"]) { try $0.write("de.lproj/x", "") },
        SealChange("the base localization removed", ["missing Base.lproj/Main.strings"]) {
            try $0.remove("Base.lproj")
        },
        SealChange("version.plist added", ["added version.plist"]) { try $0.write("version.plist", "") },
        SealChange("a profile added", ["added embedded.provisionprofile"]) {
            try $0.write("embedded.provisionprofile", "")
        },
        SealChange("PkgInfo added below", ["added Assets/PkgInfo"]) { try $0.write("Assets/PkgInfo", "") },
        SealChange("Info.plist added below", ["added Assets/Info.plist"]) { try $0.write("Assets/Info.plist", "") },
        SealChange("a name that only ends like .DS_Store", ["added x.DS_Store"]) { try $0.write("x.DS_Store", "") },
        SealChange("a directory named .DS_Store", ["added .DS_Store/x"]) { try $0.write(".DS_Store/x", "") },
        SealChange("symbols added", ["added Notes.app.dSYM/Contents/x"]) {
            try $0.write("Notes.app.dSYM/Contents/x", "")
        },
    ]

    @Test(arguments: free) func `only files that the rules leave out may change`(_ change: SealChange) throws {
        try change.check()
    }

    // MARK: The main executable and Info.plist

    static let program = [
        SealChange("another value in Info.plist", ["changed Info.plist"]) {
            try $0.write("Info.plist", SampleApp.information("com.example.Notes", executable: "Notes", more: "<!---->"))
        },
        SealChange("another identifier", ["changed Info.plist"]) {
            try $0.write("Info.plist", SampleApp.information("com.example.Other", executable: "Notes"))
        },
        SealChange(
            "another executable named",
            ["changed Info.plist"]
        ) { try $0.write("Info.plist", SampleApp.information("com.example.Notes", executable: "readme.txt")) },
        SealChange("a byte of the executable", ["changed Notes"]) { try $0.flip("Notes", at: 3) },
        SealChange("the executable grown", ["changed Notes"]) { try $0.change("Notes") { $0 + [10] } },
        SealChange("the executable emptied", ["changed Notes"]) { try $0.write("Notes", "") },
        SealChange("the executable removed", ["missing Notes"]) { try $0.remove("Notes") },
        SealChange("the executable renamed", ["added notes", "missing Notes"]) { try $0.move("Notes", to: "notes") },
        SealChange("the executable became a link", ["added Notes", "added code", "missing Notes"]) {
            try $0.move("Notes", to: "code")
            try $0.link("Notes", to: "code")
        },
        SealChange("the executable became a directory", ["added Notes/Notes", "missing Notes"]) {
            try $0.move("Notes", to: "x")
            try $0.move("x", to: "Notes/Notes")
        },
    ]

    @Test(arguments: program)
    func `the program and its Info plist are bound by the code directory`(_ change: SealChange) throws {
        try change.check()
    }

    @Test func `without its Info plist the executable is known by its place`() throws {
        let app = try SampleApp.whole().seal()
        try app.remove("Info.plist")
        #expect(try app.breaks() == ["missing Info.plist"])
        try app.makeDirectory("Info.plist")
        #expect(try app.breaks() == ["missing Info.plist"])
        try app.remove("Info.plist")
        try app.link("Info.plist", to: "Frameworks/Kit.framework/Info.plist")
        #expect(try app.breaks() == ["missing Info.plist"])
        try app.remove("Info.plist")
        try app.write("Info.plist", "")
        #expect(try app.breaks() == ["changed Info.plist"])
        try app.write("Info.plist", SampleApp.information("com.example.Notes", executable: nil))
        #expect(try app.breaks() == ["changed Info.plist"])
    }
}
