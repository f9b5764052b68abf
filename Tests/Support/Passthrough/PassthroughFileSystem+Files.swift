// Open files: their content is that of the host's files.

import CPlatform
import FuseBridge
import Glibc
import Platform
import SandboxModel

extension PassthroughFileSystem {
    /// The flags for the host. The kernel's writeback cache reads the rest of a page that was written in part, and
    /// places appended bytes itself.
    private static func hostFlags(_ flags: Int32) -> Int32 {
        let access = flags & O_ACCMODE == O_WRONLY ? O_RDWR : flags & O_ACCMODE
        return access | flags & O_TRUNC
    }

    /// Opens for reading too, as the writeback cache wants it, unless the file may only be written.
    private static func open(
        _ flags: Int32, _ body: (Int32) throws(SystemError) -> Descriptor
    ) throws(SystemError) -> OpenFile {
        do throws(SystemError) {
            return OpenFile(try body(hostFlags(flags)), mayBeWritten: flags & O_ACCMODE != O_RDONLY)
        } catch {
            guard error == .accessDenied, flags & O_ACCMODE == O_WRONLY else { throw error }
            return OpenFile(try body(O_WRONLY | flags & O_TRUNC), mayBeWritten: true)
        }
    }

    func open(_ node: KernelNode, flags: Int32, reply: consuming OpenReply<OpenFile>) {
        let file: OpenFile
        do throws(SystemError) {
            let node = try self.node(node)
            file = try PassthroughFileSystem.open(flags) { flags throws(SystemError) in
                try descriptors.open(node, flags: flags)
            }
        } catch {
            return reply.fail(error.code)
        }
        reply.opened(file)
    }

    func create(_ new: NewNode, flags: Int32, reply: consuming CreateReply<OpenFile>) {
        let file: OpenFile
        let made: KernelEntry
        do throws(SystemError) {
            let (name, parent) = (try fileName(new.name), try node(new.parent))
            file = try PassthroughFileSystem.open(flags) { flags throws(SystemError) in
                try parent.descriptor.open(name, flags: flags | O_CREAT, mode: new.mode & 0o7777)
            }
            made = try newEntry(name, in: parent, for: new.caller)
        } catch {
            return reply.fail(error.code)
        }
        if !reply.created(made, file) { forget(made.node, count: 1) }
    }

    func read(_ handle: OpenFile, count: Int, from offset: Int64, reply: consuming DataReply) {
        var reply = Optional(reply)
        buffers.withBuffer(count) { buffer in
            guard let reply = reply.take() else { return }
            let got: Int
            do throws(SystemError) {
                handle.noteReading(from: offset)
                // Once: what a regular file does not give it does not have.
                got = try handle.descriptor.readOnce(into: buffer, count: count, from: offset)
            } catch {
                return reply.fail(error.code)
            }
            reply.segments(got == 0 ? 0 : 1) { _ in (buffer: buffer, offset: 0, count: got) }
        }
    }

    func write(_ handle: OpenFile, bytes: RawSpan, to offset: Int64, reply: consuming CountReply) {
        do throws(SystemError) {
            try handle.descriptor.write(bytes, to: offset)
        } catch {
            return reply.fail(error.code)
        }
        reply.count(bytes.byteCount)
    }

    func mustZeroContent(_ handle: OpenFile) -> Bool { false }

    func close(_ handle: OpenFile) {
        // The host may have to write out or free what was written.
        if handle.mayBeWritten { released.add(handle) }
    }

    func synchronize(_ handle: OpenFile, dataOnly: Bool, reply: consuming DoneReply) {
        reply.answer { () throws(SystemError) in try handle.descriptor.synchronize(dataOnly: dataOnly) }
    }

    func allocate(_ handle: OpenFile, mode: Int32, offset: Int64, count: Int64, reply: consuming DoneReply) {
        reply.answer { () throws(SystemError) in
            try systemCall { platform_fallocate(handle.descriptor.number, mode, offset, count) }
        }
    }

    func seek(_ handle: OpenFile, from offset: Int64, toHole: Bool, reply: consuming PositionReply) {
        let found: Int64?
        do throws(SystemError) {
            // Requests at the same time do not meet: every other call names its offset.
            found =
                toHole
                ? try handle.descriptor.nextHole(from: offset) : try handle.descriptor.nextData(from: offset)
        } catch {
            return reply.fail(error.code)
        }
        if let found { reply.position(found) } else { reply.fail(ENXIO) }
    }

    func copy(_ range: CopyRange<OpenFile>, reply: consuming CountReply) {
        let copied: Int
        do throws(SystemError) {
            var (source, target) = (range.sourceOffset, range.targetOffset)
            copied = try systemCall {
                unsafe platform_copy_file_range(
                    range.source.descriptor.number, &source, range.target.descriptor.number, &target, range.count)
            }
        } catch {
            return reply.fail(error.code)
        }
        reply.count(copied)
    }
}
