// Exporting a device into a template, and importing it.

import DeviceTemplate
import Foundation
import Glibc
import HashFunctions
import Platform
import SandboxModel
import TestSupport
import Testing

@testable import BackingStore

@Suite struct TemplateTests {
    let scratch = Scratch()

    @Test func `an imported device is the exported one byte for byte, with another UUID`() throws {
        let (device, app) = try scratch.makeFullDevice()
        let bind = "import socket; socket.socket(1).bind(\"s\")"
        try shell("cd '\(device.path(of: .data, app.data))' && python3 -c '\(bind)'")
        let template = try scratch.export(device, to: "template")
        try scratch.importTemplate("template", to: "copy", expecting: template.digest)
        let copy = try DeviceDirectory.open(at: scratch["copy"])
        try scratch.expectSameContent("copy", of: device)
        #expect(scratch.names == ["copy", "device", "template"])
        // A device whose records are believed, which changes as any other does.
        try copy.replaceRegistry(AppRegistry(), holding: try copy.lock())
    }

    @Test func `the same device gives the same bytes, and their digest`() throws {
        let (device, _) = try scratch.makeFullDevice()
        let one = try scratch.export(device, to: "one")
        // Reading has changed times of access, and nothing else.
        let other = try scratch.export(device, to: "other")
        #expect(one == other)
        try shell("cmp \(scratch["one"]) \(scratch["other"])")
        let bytes = try HostPath.contents(scratch["one"])
        #expect(one.digest == HashFunction.sha256.digest(of: bytes))
        #expect(one.size == Int64(bytes.count))
        #expect(bytes.count < 1_000_000, "the holes were written")
    }

    @Test func `other tools list the tar in a template`() throws {
        let (device, app) = try scratch.makeFullDevice()
        try scratch.export(device, to: "template")
        let names = try shell("cd \(scratch.path) && tar --zstd -tf template").split(separator: "\n")
        #expect(names.first == "Template")
        #expect(names.contains("Device.json"))
        #expect(names.contains { $0.hasSuffix("\(app.data.text)/Documents/random") })
    }

    @Test func `an export refuses a path that no import takes`() throws {
        let (device, app) = try scratch.makeFullDevice()
        let name = String(repeating: "d", count: 255)
        let make =
            "import os, sys\nos.chdir(sys.argv[1])\nfor _ in range(260): os.mkdir('\(name)'); os.chdir('\(name)')"
        try shell("python3 -c \"\(make)\" '\(device.path(of: .data, app.data))'")
        let complaint = complaint { try scratch.export(device, to: "template") }
        #expect(complaint?.kind == .notAllowed)
        #expect(complaint?.message.contains("a path of more than 65536 bytes") == true)
    }

    @Test func `an export that is cancelled is`() throws {
        let (device, _) = try scratch.makeFullDevice()
        let lock = try device.lock()
        let complaint = complaint {
            _ = try device.export(to: try scratch.create("template"), named: "template", holding: lock) { _ in false }
        }
        #expect(complaint == .cancelled)
        #expect(try shell("find \(device.path) -name closed -printf %m") == "0")
    }

    @Test func `an import that is cancelled, or finds the place taken, leaves nothing`() throws {
        let (device, _) = try scratch.makeFullDevice()
        try scratch.export(device, to: "template")
        let file = SharedDescriptor(try Descriptor.open(path: scratch["template"], flags: O_RDONLY))
        let reader = try TemplateReader(file, from: .template("template"))
        #expect(
            complaint { try DeviceDirectory.importTemplate(reader, to: scratch["copy"]) { _ in false } } == .cancelled)
        #expect(complaint { try scratch.importTemplate("template", to: "device") }?.kind == .deviceExists)
        #expect(scratch.names == ["device", "template"])
    }

    @Test(.enabled(if: isRoot)) func `the exported device's owner becomes the user who imports`() throws {
        let (device, app) = try scratch.makeFullDevice()
        let data = device.path(of: .data, app.data)
        try shell("chown -h 4321:8765 '\(device.path)' '\(data)/Documents' '\(data)/Documents/random'")
        let lock = try device.lock()
        _ = try device.export(to: try scratch.create("template"), named: "template", holding: lock)
        try scratch.importTemplate("template", to: "copy")
        let copy = scratch["copy/Containers"] + data.dropFirst(device.path.count + "/Containers".count)
        #expect(try shell("stat -c %u:%g '\(copy)/Documents' '\(copy)/Documents/random'") == "0:0\n0:0\n")
        #expect(try shell("stat -c %u:%g '\(copy)/Documents/deep'") == "1234:5678\n")
    }
}
