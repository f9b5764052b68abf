// Tests of the control API: its requests, replies and events in JSON, as a client in another language has to read them.

import AppContainer
import Foundation
import Testing

@Suite struct ControlJSONTests {
    private func json(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    private func decode<Value: Decodable>(_ type: Value.Type, _ text: String) throws -> Value {
        try JSONDecoder().decode(type, from: Data(text.utf8))
    }

    @Test func `a device that is off has nulls for its daemon`() throws {
        #expect(try json(DaemonStatus.off) == #"{"pid":null,"socket":null}"#)
        #expect(try decode(DaemonStatus.self, #"{"pid":null,"socket":null}"#) == .off)
    }

    @Test func `an owner is a number that the host can give to a user`() throws {
        for (text, owner) in [("501", 501), ("0", 0), ("4294967294", 4_294_967_294), ("null", nil)]
            as [(String, UInt32?)]
        {
            let request = try decode(InstallRequest.self, #"{"app":"/a.app","owner":\#(text),"ownerGroup":\#(text)}"#)
            #expect(request.owner == owner && request.ownerGroup == owner)
        }
        let sent = InstallRequest(app: "/a.app", owner: 501, ownerGroup: 20)
        let received = try decode(InstallRequest.self, try json(sent))
        #expect(received.owner == 501 && received.ownerGroup == 20)
        for text in ["-1", "1.5", "4294967295", "4294967296", "1e400", #""501""#, "[]"] {
            #expect(throws: DecodingError.self) {
                try decode(InstallRequest.self, #"{"app":"/a.app","owner":\#(text)}"#)
            }
        }
    }

    @Test func `optional keys of a request can be left out`() throws {
        let mount = try decode(MountRequest.self, #"{"app":"a","mountPoint":"/m"}"#)
        #expect(mount.readOnly == nil && mount.allowOther == nil && mount.running == nil && mount.documents == nil)
        #expect(mount.transport == nil)
        let run = try decode(RunRequest.self, #"{"app":"a"}"#)
        #expect(run.verifyAll == nil && run.detached == nil)
        #expect(try decode(InstallRequest.self, #"{"app":"/a.app"}"#).groups == nil)
        #expect(try decode(CheckRequest.self, "{}").repair == nil)
        #expect(try decode(UnmountRequest.self, #"{"mountPoint":"/m"}"#).lazy == nil)
    }

    @Test func `a mount asks for a transport, and names the one it has, by the words of the command`() throws {
        let words: [MountRequest.Transport: String] = [.auto: "auto", .devFuse: "dev-fuse", .ioUring: "io-uring"]
        for transport in MountRequest.Transport.allCases {
            let text = #"{"app":"a","transport":"\#(words[transport] ?? "")"}"#
            #expect(try decode(MountRequest.self, text).transport == transport)
        }
        #expect(throws: DecodingError.self) { try decode(MountRequest.self, #"{"app":"a","transport":"pigeon"}"#) }
        let mount = Mount(app: "a", mountPoint: "/m", readOnly: false, allowOther: false, transport: .ioUring)
        #expect(try json(mount).contains(#""transport":"io-uring""#))
        #expect(try decode(Mount.self, json(mount)) == mount)
    }

    @Test func `a failure has a kind and a line`() throws {
        let failure = Failure(DeviceError(.inUse, "it is in use"))
        #expect(try json(failure) == #"{"complaint":{"kind":"inUse","message":"it is in use"}}"#)
    }

    @Test func `an event has the keys that apply to it, and no others`() throws {
        let time = "2026-01-02T03:04:05.678Z"
        let refused = Event(
            .refused, time: time, app: "com.example.Notes", path: "Notes.app/a", operation: "open", pid: 7,
            process: "vi", rule: "sealedBundle", errno: "EPERM", range: Event.Range(offset: 4096, length: 10))
        let text =
            #"{"app":"com.example.Notes","errno":"EPERM","event":"refused","operation":"open","path":"Notes.app/a","#
            + #""pid":7,"process":"vi","range":{"length":10,"offset":4096},"rule":"sealedBundle","time":"\#(time)"}"#
        #expect(try json(refused) == text)
        #expect(try decode(Event.self, text) == refused)
        #expect(try json(Event(.locked, time: time)) == #"{"event":"locked","time":"\#(time)"}"#)
        let later = try decode(Event.self, #"{"event":"somethingNew","time":"\#(time)","further":[1]}"#)
        #expect(later.event.rawValue == "somethingNew")
    }

    @Test func `the time of an event is in UTC, with milliseconds`() {
        #expect(Event(.locked).time.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/) != nil)
    }

    @Test func `progress, result and complaint are lines of their own`() throws {
        let progress = WorkLine<Done>(progress: WorkProgress(activity: "installing", unit: .bytes, done: 1, total: nil))
        #expect(try json(progress) == #"{"progress":{"activity":"installing","done":1,"unit":"bytes"}}"#)
        #expect(try json(WorkLine(result: Done())) == #"{"result":{}}"#)
    }

    @Test func `every request has a path of its own, and those that must not be repeated say so`() {
        let paths = [
            StatusRequest.path, ShutdownRequest.path, AppsRequest.path, UnlockRequest.path, LockRequest.path,
            RestartRequest.path, PasscodeRequest.path, InstallRequest.path, UninstallRequest.path, ResetRequest.path,
            EntitleRequest.path, DeliverRequest.path, MountRequest.path, UnmountRequest.path, MountEndRequest.path,
            InspectRequest.path, CheckRequest.path, EventsRequest.path,
        ]
        #expect(Set(paths).count == paths.count)
        #expect(!InstallRequest.isRepeatable && !UninstallRequest.isRepeatable)
        #expect(!ResetRequest.isRepeatable && !DeliverRequest.isRepeatable && !PasscodeRequest.isRepeatable)
        #expect(MountRequest.isRepeatable)
    }

    @Test func `nobody at the socket is an error of its own kind`() async {
        let client = DeviceClient(socket: "/nonexistent/socket")
        let error = await #expect(throws: DeviceError.self) { _ = try await client.status() }
        #expect(error?.kind == DeviceError.Kind.daemonUnreachable)
    }
}
