// The staging directory of a booted device: names that are in use stay, and a bundle has one use at a time.

import BackingStore
import Platform
import SandboxModel
import TestSupport
import Testing

@testable import DeviceLifecycle

@Suite struct StagingAreaTests {
    private let scratch = Scratch()

    private func names(_ staging: StagingArea) throws -> Set<FileName> {
        Set(try staging.open().names(where: { _ in true }))
    }

    @Test func `names in use stay when the directory is emptied, and go when they are released`() throws {
        let staging = try scratch.makeDevice().staging
        let (kept, other) = (ContainerUUID(), ContainerUUID())
        for uuid in [kept, other] { try staging.open().makeDirectory(uuid.fileName, for: .current) }
        staging.keep(kept)
        #expect(staging.namesInUse == [kept.fileName])
        try staging.removeUnused()
        #expect(try names(staging) == [kept.fileName])
        staging.release(kept)
        try staging.removeUnused()
        #expect(try names(staging).isEmpty)
    }

    @Test func `a name is removed with all that is in it, and one that is missing is no error`() throws {
        let staging = try scratch.makeDevice().staging
        let uuid = ContainerUUID()
        try staging.open().makeDirectory(uuid.fileName, for: .current)
        try staging.open().openDirectory(uuid.fileName).makeDirectory("inner", for: .current)
        staging.remove(uuid.fileName)
        staging.remove(uuid.fileName)
        #expect(try names(staging).isEmpty)
    }

    @Test func `all openings of a bundle share one use, which ends with the last of them`() throws {
        let staging = try scratch.makeDevice().staging
        let bundle = ContainerUUID()
        #expect(staging.presentUse(of: bundle) == nil)
        do {
            let use = staging.use(of: bundle)
            #expect(staging.use(of: bundle) === use && staging.presentUse(of: bundle) === use)
            #expect(staging.use(of: ContainerUUID()) !== use)
        }
        #expect(staging.presentUse(of: bundle) == nil)
    }
}
