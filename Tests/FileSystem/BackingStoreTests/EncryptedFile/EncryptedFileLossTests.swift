// Writes to class A after its key was taken: the ranges are lost, and reported.

import DataProtection
import Foundation
import Platform
import SandboxModel
import Testing

@testable import BackingStore

private let refused = Fault.refused(.dataProtection)
private let gone = Fault.system(.inputOutput)

@Suite("Ranges written to class A after its key was taken")
struct EncryptedFileLossTests {
    private let stored: StoredFile
    private let file: EncryptedFile
    private let whole = [UInt8](repeating: 65, count: 100_000)
    private var openFiles: OpenFileRegistry { stored.context.openFiles }

    init() throws {
        stored = try StoredFile()
        file = try stored.create(.complete, whole)
    }

    private func lose(_ ranges: Range<Int64>...) {
        openFiles.refuseReading()
        openFiles.close()
        for range in ranges {
            let bytes = [UInt8](repeating: 66, count: range.count)
            #expect(throws: refused) { try file.write(bytes, at: range.lowerBound) }
        }
        openFiles.reopen()
    }

    private func rewrite(_ range: Range<Int64>) throws {
        try file.write([UInt8](repeating: 67, count: range.count), at: range.lowerBound)
    }

    private func isLost(_ offset: Int64) -> Bool { (try? file.readAll(from: offset, count: 1)) == nil }

    @Test("A lost range reads as EIO, and the bytes beside it are unchanged")
    func unreadable() throws {
        lose(10_000..<20_000)
        #expect(throws: gone) { try file.readAll() }
        #expect(throws: gone) { try file.readAll(from: 9_999, count: 2) }
        #expect(throws: gone) { try file.readAll(from: 19_999, count: 1) }
        #expect(try file.readAll(count: 10_000) == Array(whole[..<10_000]))
        #expect(try file.readAll(from: 20_000) == Array(whole[20_000...]))
    }

    @Test("A lost range is reported once, and again when more is lost")
    func told() throws {
        #expect(file.takeUnreportedLoss() == [] && !file.hasLoss)
        lose(10..<20)
        #expect(file.takeUnreportedLoss() == [10..<20])
        #expect(file.takeUnreportedLoss() == [] && file.hasLoss)
        lose(30..<40, 15..<25)
        #expect(file.takeUnreportedLoss() == [15..<25, 30..<40])
        #expect(file.takeUnreportedLoss() == [])
    }

    @Test("A lost range that is written again can be read, from either end, also in part")
    func rewritten() throws {
        lose(10_000..<20_000)
        try rewrite(9_000..<12_000)
        #expect(!isLost(11_999) && isLost(12_000))
        try rewrite(18_000..<20_000)
        #expect(isLost(17_999) && !isLost(18_000))
        try rewrite(20_000..<21_000)
        #expect(isLost(12_000) && isLost(17_999))
        try rewrite(12_000..<18_000)
        #expect(!file.hasLoss)
        #expect(
            try file.readAll()
                == Array(whole[..<9_000]) + [UInt8](repeating: 67, count: 12_000) + Array(whole[21_000...]))
    }

    @Test("A range behind the end is lost too, until the file is cut or zeroed there")
    func cut() throws {
        lose(150_000..<160_000)
        #expect(isLost(155_000))
        try file.truncate(to: 155_000)
        #expect(isLost(154_999))
        try file.truncate(to: 200_000)
        #expect(isLost(154_999) && !isLost(155_000))
        try file.truncate(to: 0)
        #expect(!file.hasLoss)
        try file.truncate(to: 200_000)
        #expect(try file.readAll() == [UInt8](repeating: 0, count: 200_000))
        lose(4096..<8192)
        try file.zero(0, count: 6000, releasing: false)
        #expect(!isLost(5999) && isLost(6000))
        try file.zero(4096, count: 4096, releasing: true)
        #expect(!file.hasLoss)
    }

    @Test("A range refused after a restart is lost and reported too")
    func retired() throws {
        openFiles.retireAll(admittingComplete: true)
        #expect(throws: gone) { try rewrite(10..<20) }
        #expect(file.takeUnreportedLoss() == [10..<20])
        #expect(file.takeUnreportedLoss() == [])
    }

    @Test("A file of another class loses nothing")
    func others() throws {
        let other = try stored.create(.completeUnlessOpen, whole, named: "other")
        openFiles.close()
        try other.write([1], at: 0)
        #expect(other.takeUnreportedLoss() == [] && !other.hasLoss)
    }
}
