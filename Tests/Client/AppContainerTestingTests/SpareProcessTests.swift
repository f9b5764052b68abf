// A process that was started ahead, and that is not there any more, or not the right one, when it is wanted.

import Foundation
import Platform
import Testing

@testable import AppContainer

@Suite struct SpareProcessTests {
    private let program = Result { try DaemonProgram.path() }

    @Test func `one that was killed while it waited is no reason to fail`() async throws {
        let program = try program.get()
        let spare = try DaemonProgram.start(program)
        kill(spare.identifier, SIGKILL)
        spare.waitForEnd()
        SpareProcess.keep(spare, of: program)
        try await Device.withTemporary { device in
            let status = try await device.status()
            #expect(status.apps == 0)
        }
    }

    @Test func `one of another program, or with another environment, is not taken, and ends`() throws {
        let program = try program.get()
        for (other, environment) in [("/other/appcontainer", SpareProcess.present), (program, ["OTHER": "1"])] {
            var spare: ProcessBox?
            do {
                let process = try DaemonProgram.start(program)
                spare = ProcessBox(process.identifier)
                SpareProcess.keep(process, of: program)
            }
            #expect(SpareProcess.take(of: other, environment: environment)?.identifier == nil)
            let box = try #require(spare)
            #expect(box.ends())
        }
    }
}
