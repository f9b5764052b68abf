// stat(2), statfs(2) and the calls that change what stat(2) shows.

import ContainerVolume
import FuseBridge
import Glibc
import Platform
import SandboxModel

extension VolumeFileSystem {
    func status(of node: KernelNode, handle: FileHandle?, reply: consuming FileStatusReply) {
        do throws(Fault) {
            send(try volume.status(of: node.id, handle: handle), of: node, reply)
        } catch {
            // lseek(2) to the end asks by the handle, as write(2) does. It reaches no content, and goes as fstat(2)
            // does.
            if handle != nil, HostProcess.contentCall(ofThread: reply.caller.thread) == .seek,
                let status = try? volume.status(of: node.id, handle: nil)
            {
                return send(status, of: node, reply)
            }
            // No rule refuses stat(2). With a handle, the kernel asks for the size on behalf of read(2) or write(2).
            fail(reply, error, handle?.canWrite == false ? .read : .write, of: node.id)
        }
    }

    func changeStatus(
        _ change: FileStatusChange, of node: KernelNode, handle: FileHandle?, reply: consuming FileStatusReply
    ) {
        do throws(Fault) {
            let caller = Caller(reply.caller)
            let status = try volume.changeStatus(change, of: node.id, handle: handle, by: caller)
            recordChange(of: node.id)
            send(status, of: node, reply)
        } catch {
            fail(reply, error, CallName(change, error), of: node.id)
        }
    }

    private func send(_ status: FileStatus, of node: KernelNode, _ reply: consuming FileStatusReply) {
        let keeps = volume.mayCacheStatus(of: node.id, status)
        reply.status(status, timeout: keeps ? CacheTimeout.status : 0)
    }

    func statistics(of node: KernelNode, reply: consuming StatisticsReply) {
        do throws(Fault) {
            let host = try volume.statistics()
            reply.statistics(
                FileSystemStatistics(
                    blockSize: UInt64(host.f_frsize), blocks: UInt64(host.f_blocks),
                    freeBlocks: UInt64(host.f_bfree), availableBlocks: UInt64(host.f_bavail),
                    files: UInt64(host.f_files), freeFiles: UInt64(host.f_ffree)))
        } catch {
            reply.fail(error.errno)
        }
    }
}
