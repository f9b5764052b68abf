#!/usr/bin/python3
"""Makes every call that can reach content, on files of each class, and compares what it answers with a table.

    protection.py prepare DIRECTORY          makes the directories A, B, C and D with their files
    protection.py calls DIRECTORY COLUMNS    opens the files, says "ready", waits for a line, then makes the calls

The table is read from standard input after that line: `CALL ANSWER…`, an answer for each of the COLUMNS, such as ABD.
An answer is ok, an errno's name, or SIGBUS. Prints each difference, and ends with 1 if there was one."""
import ctypes
import errno
import mmap
import os
import signal
import sys

LIBC = ctypes.CDLL(None, use_errno=True)
CLASSES = {"A": "Complete", "B": "CompleteUnlessOpen", "C": "CompleteUntilFirstUserAuthentication", "D": "None"}
SIZE = 3 * 4096 + 100
RENAME_EXCHANGE, PUNCH_HOLE, KEEP_SIZE, ZERO_RANGE = 2, 2, 1, 16


def system(result):
    if result < 0:
        raise OSError(ctypes.get_errno(), "")
    return result


def prepare(directory):
    for name, protection in CLASSES.items():
        os.mkdir(f"{directory}/{name}")
        os.setxattr(f"{directory}/{name}", "user.appcontainer.protection", b"NSFileProtection" + protection.encode())
        for file in ["open", "closed", "taken", "over"]:
            with open(f"{directory}/{name}/{file}", "wb") as content:
                content.write(name.encode() * SIZE)


class Place:
    """The files of one class, and every call on them by its name in the table."""

    def __init__(self, directory, name, scratch):
        self.at = f"{directory}/{name}"
        self.scratch = scratch
        self.descriptor = os.open(f"{self.at}/open", os.O_RDWR)
        self.direct = os.open(f"{self.at}/open", os.O_RDWR | os.O_DIRECT)
        self.appending = os.open(f"{self.at}/open", os.O_WRONLY | os.O_APPEND)
        self.mapping = mmap.mmap(self.descriptor, SIZE)
        self.private = mmap.mmap(self.descriptor, SIZE, flags=mmap.MAP_PRIVATE)
        self.page = mmap.mmap(-1, 4096)
        # In the page cache, where a lock has to find it.
        os.pread(self.descriptor, SIZE, 0)

    def opened(self, flags, file="closed"):
        os.close(os.open(f"{self.at}/{file}", flags, 0o644))

    def made(self, make):
        try:
            make(f"{self.at}/new")
        except OSError:
            assert not os.path.lexists(f"{self.at}/new"), f"a name was left behind in {self.at}"
            raise
        os.unlink(f"{self.at}/new")

    def touch(self, body):
        """In a process of its own, for the signal that may come."""
        process = os.fork()
        if process == 0:
            try:
                body()
                os._exit(0)
            except OSError as error:
                os._exit(error.errno)
        status = os.waitpid(process, 0)[1]
        if os.WIFSIGNALED(status):
            return signal.Signals(os.WTERMSIG(status)).name
        if os.WEXITSTATUS(status):
            raise OSError(os.WEXITSTATUS(status), "")
        return "ok"

    def store(self):
        self.mapping[10:11] = b"x"

    def new_mapping(self):
        return mmap.mmap(self.descriptor, SIZE, prot=mmap.PROT_READ)[0]

    def pipe_from(self):
        reader, writer = os.pipe()
        try:
            os.splice(self.descriptor, writer, 100, offset_src=0)
        finally:
            os.close(reader)
            os.close(writer)

    def pipe_to(self):
        reader, writer = os.pipe()
        try:
            os.write(writer, b"piped")
            os.splice(reader, self.descriptor, 5, offset_dst=0)
        finally:
            os.close(reader)
            os.close(writer)

    def fallocate(self, mode):
        system(LIBC.fallocate(self.descriptor, mode, ctypes.c_long(0), ctypes.c_long(4096)))

    def renamed(self, old, new):
        os.rename(f"{self.at}/{old}", f"{self.at}/{new}")

    def exchange(self):
        old, new = f"{self.at}/taken".encode(), f"{self.at}/closed".encode()
        for _ in range(2):
            system(LIBC.renameat2(-100, old, -100, new, RENAME_EXCHANGE))

    def calls(self):
        return (self.calls_that_open() | self.calls_that_read() | self.calls_that_write() | self.calls_that_resize()
                | self.calls_on_metadata() | self.calls_on_names())

    def calls_that_open(self):
        return {
            "open-read": lambda: self.opened(os.O_RDONLY),
            "open-write": lambda: self.opened(os.O_WRONLY),
            "open-both": lambda: self.opened(os.O_RDWR),
            "open-append": lambda: self.opened(os.O_WRONLY | os.O_APPEND),
            "open-creat": lambda: self.opened(os.O_RDWR | os.O_CREAT),
            "open-again": lambda: self.opened(os.O_RDONLY, "open"),
            "open-descriptor": lambda: os.close(os.open(f"/proc/self/fd/{self.descriptor}", os.O_RDONLY)),
            "open-path": lambda: self.opened(os.O_PATH),
            "open-direct": lambda: self.opened(os.O_RDONLY | os.O_DIRECT),
            "creat": lambda: self.made(lambda path: os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o644))),
            "creat-excl": lambda: self.made(
                lambda path: os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o644))),
            "mknod": lambda: self.made(lambda path: os.mknod(path, 0o100644)),
        }

    def calls_that_read(self):
        fd = self.descriptor
        return {
            "pread": lambda: os.pread(fd, 100, 0),
            "preadv": lambda: os.preadv(fd, [bytearray(10), bytearray(10)], 4090),
            "read": lambda: os.read(fd, 10),
            "pread-direct": lambda: os.preadv(self.direct, [self.page], 0),
            "sendfile": lambda: os.sendfile(self.scratch, fd, 0, 100),
            "splice-from": self.pipe_from,
            "copy-from": lambda: os.copy_file_range(fd, self.scratch, 100, 0, 0),
            "seek-data": lambda: os.lseek(fd, 0, os.SEEK_DATA),
            "seek-hole": lambda: os.lseek(fd, 0, os.SEEK_HOLE),
            "load": lambda: self.touch(lambda: self.mapping[0]),
            "load-private": lambda: self.touch(lambda: self.private[0]),
            "load-new": lambda: self.touch(self.new_mapping),
        }

    def calls_that_write(self):
        fd = self.descriptor
        return {
            "store": lambda: self.touch(self.store),
            "pwrite": lambda: os.pwrite(fd, b"after", 50),
            "pwrite-page": lambda: os.pwrite(fd, b"p" * 4096, 4096),
            "pwrite-behind": lambda: os.pwrite(fd, b"end", SIZE + 5000),
            "pwritev": lambda: os.pwritev(fd, [b"one", b"two"], 10),
            "write": lambda: os.write(fd, b"here"),
            "append": lambda: os.write(self.appending, b"more"),
            "pwrite-direct": lambda: os.pwritev(self.direct, [self.page], 0),
            "splice-to": self.pipe_to,
            "copy-to": lambda: os.copy_file_range(self.scratch, fd, 100, 0, 0),
            "fsync": lambda: os.fsync(fd),
            "fdatasync": lambda: os.fdatasync(fd),
        }

    def calls_that_resize(self):
        fd, at, closed = self.descriptor, self.at, f"{self.at}/closed"
        return {
            "ftruncate-less": lambda: os.ftruncate(fd, SIZE - 10),
            "ftruncate-more": lambda: os.ftruncate(fd, SIZE + 10),
            "ftruncate-same": lambda: os.ftruncate(fd, os.fstat(fd).st_size),
            "truncate-less": lambda: os.truncate(closed, 10),
            "truncate-more": lambda: os.truncate(closed, SIZE * 2),
            "truncate-open": lambda: os.truncate(f"{at}/open", 10),
            "open-trunc": lambda: self.opened(os.O_WRONLY | os.O_TRUNC),
            "open-creat-trunc": lambda: self.opened(os.O_WRONLY | os.O_CREAT | os.O_TRUNC),
            "fallocate": lambda: self.fallocate(0),
            "fallocate-punch": lambda: self.fallocate(PUNCH_HOLE | KEEP_SIZE),
            "fallocate-zero": lambda: self.fallocate(ZERO_RANGE),
        }

    def calls_on_metadata(self):
        fd, at, closed = self.descriptor, self.at, f"{self.at}/closed"
        return {
            "fstat": lambda: os.fstat(fd),
            "stat": lambda: os.stat(closed),
            "stat-open": lambda: os.stat(f"{at}/open"),
            "access": lambda: os.access(closed, os.R_OK) or system(-1),
            "readdir": lambda: os.listdir(at),
            "chmod": lambda: os.chmod(closed, 0o640),
            "fchmod": lambda: os.fchmod(fd, 0o640),
            "chown": lambda: os.chown(closed, os.getuid(), os.getgid()),
            "utimensat": lambda: os.utime(closed, (1, 2)),
            "futimens": lambda: os.utime(fd, (1, 2)),
            "setxattr": lambda: os.setxattr(closed, "user.note", b"1"),
            "fsetxattr": lambda: os.setxattr(fd, "user.note", b"1"),
            "getxattr": lambda: os.getxattr(closed, "user.appcontainer.protection"),
            "listxattr": lambda: os.listxattr(closed),
            "removexattr": lambda: os.removexattr(closed, "user.note"),
        }

    def calls_on_names(self):
        at, closed = self.at, f"{self.at}/closed"
        return {
            "link": lambda: os.link(closed, f"{at}/linked"),
            "rename": lambda: self.renamed("linked", "moved"),
            "exchange": self.exchange,
            "rename-over": lambda: self.renamed("moved", "over"),
            "unlink": lambda: os.unlink(f"{at}/over"),
            "mkdir": lambda: os.mkdir(f"{at}/directory"),
            "rmdir": lambda: os.rmdir(f"{at}/directory"),
            "symlink": lambda: os.symlink("closed", f"{at}/symlink"),
        }


def answer(call):
    try:
        result = call()
    except OSError as error:
        return errno.errorcode[error.errno]
    return result if isinstance(result, str) else "ok"


def main():
    if sys.argv[1] == "prepare":
        return prepare(sys.argv[2])
    directory, columns = sys.argv[2], sys.argv[3]
    scratch = os.open(f"{directory}/scratch", os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
    os.setxattr(f"{directory}/scratch", "user.appcontainer.protection", b"NSFileProtectionNone")
    os.pwrite(scratch, b"s" * 4096, 0)
    places = [Place(directory, name, scratch).calls() for name in columns]
    print("ready", flush=True)
    sys.stdin.readline()
    problems, seen = 0, set()
    for line in sys.stdin:
        call, *expected = line.split()
        seen.add(call)
        for name, place, wanted in zip(columns, places, expected, strict=True):
            got = answer(place[call])
            if got != wanted:
                problems += 1
                print(f"{call} of class {name}: {got}, expected {wanted}")
    if missing := places[0].keys() - seen:
        problems += 1
        print(f"not in the table: {', '.join(sorted(missing))}")
    sys.exit(problems > 0)


main()
