"""Writers on a disk whose power fails know what is safe: only fsync and fdatasync make something safe, a file with
its names, or what a directory lists. A block that was to be written and was not yet synchronized may be EIO; nothing
else may."""

import errno
import os
import random
import sqlite3
import threading

import writers
from writers import BLOCK


class Kept(writers.Kept):
    """Content that only fsync makes safe. During a cut, states are kept that were acknowledged after it began."""

    lock = threading.Lock()
    holding = False

    def __init__(self, state=None):
        super().__init__(state)
        # For each state, the blocks that may have been written when it was asked for.
        self.changed = [set()]
        self.unreadable = set()
        self.lost = False
        # The oldest state that counts.
        self.first = 0

    def ask(self, state, changed=range(0)):
        with Kept.lock:
            blocks = range(changed.start // BLOCK, -(-changed.stop // BLOCK)) if changed else ()
            self.changed.append(set(blocks))
            super().ask(state)

    def acknowledge(self, by):
        self.safe_from(len(self.states) - 1, by)

    def acknowledge_name(self):
        """Whether there is such a name is safe, and what it stands for; not the content."""
        absent = [index for index, state in enumerate(self.states) if state is None]
        if absent:
            self.safe_from(min(absent[-1] + 1, len(self.states) - 1), "fsync of the directory")

    def safe_from(self, index, by):
        with Kept.lock:
            self.first = max(self.first, index)
            self.note(by)
            if not Kept.holding:
                self.drop()

    def drop(self):
        self.states = self.states[self.first:]
        self.changed = self.changed[self.first:]
        self.first = 0

    def copy(self):
        other = Kept()
        other.states, other.changed, other.history = list(self.states), list(self.changed), list(self.history)
        return other

    def contents(self, path):
        pending = set().union(*self.changed[1:])
        with open(path, "rb", buffering=0) as file:
            size = os.fstat(file.fileno()).st_size
            got = b""
            for start in range(0, size, BLOCK):
                want = min(BLOCK, size - start)
                try:
                    block = os.pread(file.fileno(), want, start)
                    assert len(block) == want, f"{path}: {len(block)} bytes at {start} instead of {want}"
                except OSError as problem:
                    if problem.errno != errno.EIO or start // BLOCK not in pending:
                        raise AssertionError(
                            f"{path}: block {start // BLOCK} of {size} bytes was not being written:"
                            f" {problem.strerror}; lately {self.history}") from None
                    self.unreadable.add(start // BLOCK)
                    block = bytes(want)
                got += block
        return got, self.unreadable

    def compare(self, path):
        last = self.states[-1]
        super().compare(path)
        # Content that was not safe was lost, as it may be.
        self.lost = self.lost or self.states[0] != last

    def mend(self, path):
        """A file that cannot be read can be overwritten as a whole."""
        [got] = self.states
        file = os.open(path, os.O_RDWR)
        try:
            for block in sorted(self.unreadable):
                start = block * BLOCK
                data = os.urandom(BLOCK)
                os.pwrite(file, data, start)
                if len(got) < start + BLOCK:
                    # For a part of it the kernel would read the rest first, also where that lies behind the end.
                    data = data[:len(got) - start]
                    os.ftruncate(file, len(got))
                got = got[:start] + data + got[start + BLOCK:]
        except OSError as problem:
            raise AssertionError(
                f"{path}: block {block} of {len(got)} bytes cannot be overwritten: {problem.strerror}") from None
        finally:
            os.close(file)
        self.states, self.unreadable = [got], set()


class Writer(writers.Writer):
    make_kept = Kept

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.ready = threading.Event()
        # While it is clear, the writer waits between two steps.
        self.go = threading.Event()
        self.go.set()
        self.steady = 0

    def prepare(self):
        for name in ("here", "there"):
            os.makedirs(self.path(name), exist_ok=True)
        self.kept("there/moving")
        self.put("here/moving", self.source.randbytes(9000), "xb", safe=True)
        self.ready.set()

    def step(self):
        self.go.wait()
        what = self.source.randrange(8)
        if what == 0:
            self.nested(self.source.randrange(10))
        elif what == 1:
            there = self.kept("here/moving").states[-1] is None
            self.rename(*(("there/moving", "here/moving") if there else ("here/moving", "there/moving")))
        elif what == 2 and self.steady < 60:
            # Never touched again.
            self.put(f"steady-{self.steady}", self.source.randbytes(self.source.randrange(40_000)), "xb", safe=True)
            self.steady += 1
        else:
            super().step()
        # A file that is never synchronized would be remembered in all its states.
        for name in ("large", "middle-0", "middle-1", "middle-2", "middle-3"):
            if len(self.kept(name).states) > 40:
                file = os.open(self.path(name), os.O_RDONLY)
                self.synchronize(file)
                os.close(file)
                self.acknowledge("fsync", self.kept(name))

    def synchronize(self, file):
        self.source.choice((os.fsync, os.fdatasync))(file)

    def written(self, file, kept, safe):
        if safe or self.source.randrange(3) == 0:
            self.synchronize(file)
            self.acknowledge("fsync", kept)

    def moved(self, *kept):
        if self.source.randrange(2):
            return
        names = [name for name, each in self.files.items() if each in kept]
        for directory in {os.path.dirname(name) for name in names}:
            self.synchronize_directory(directory)
        # The content of a renamed file was synchronized before.
        self.acknowledge("fsync of the directory", *kept)

    def synchronize_directory(self, directory):
        file = os.open(self.path(directory), os.O_RDONLY | os.O_DIRECTORY)
        os.fsync(file)
        os.close(file)
        for name, kept in list(self.files.items()):
            if os.path.dirname(name) == directory:
                kept.acknowledge_name()

    def nested(self, number):
        """A file in new directories, whose names its fsync makes durable."""
        name = f"nested-{number}/deep/file"
        kept = self.kept(name)
        if kept.states[-1] is None:
            os.makedirs(os.path.dirname(self.path(name)))
            self.put(name, self.source.randbytes(3000), "xb")
            return
        self.calls += 1
        kept.ask(None)
        os.unlink(self.path(name))
        os.removedirs(os.path.dirname(self.path(name)))
        if self.source.randrange(2):
            self.synchronize_directory("")
            self.acknowledge("fsync of the directory", kept)


class Database(threading.Thread):
    """Commits rows, one by one. Each number has its own text."""

    def __init__(self, path):
        super().__init__()
        self.path = path
        self.asked = self.committed = 0
        self.problem = None
        self.stopped = False
        self.ready = threading.Event()
        self.go = threading.Event()
        self.go.set()

    @staticmethod
    def text(number):
        return random.Random(number).randbytes(number * 7919 % 6000).hex()

    def run(self):
        try:
            database = sqlite3.connect(self.path, isolation_level=None)
            database.execute("pragma journal_mode=wal")
            database.execute("pragma synchronous=full")
            database.execute("pragma wal_autocheckpoint=60")
            database.execute("create table rows(number integer primary key, content text)")
            self.ready.set()
            while not self.stopped:
                self.go.wait()
                number = self.asked + 1
                self.asked = number
                database.execute("insert into rows values(?, ?)", (number, self.text(number)))
                self.committed = number
            database.close()
        except BaseException as problem:
            self.problem = repr(problem)

    @classmethod
    def compare(cls, path, committed, asked, unreadable):
        if unreadable:
            # A commit was being appended to a block that held the end of the one before: until it is synchronized, that
            # block may be lost, and SQLite does not go past it. The frames before it are whole.
            os.truncate(path + "-wal", min(unreadable) * 4096)
            committed = 0
        database = sqlite3.connect(path, isolation_level=None)
        [(verdict,)] = database.execute("pragma integrity_check").fetchall()
        assert verdict == "ok", f"integrity_check: {verdict}"
        rows = database.execute("select number, content from rows order by number").fetchall()
        assert committed <= len(rows) <= asked, f"{len(rows)} rows; {committed} were committed, {asked} asked for"
        for index, (number, content) in enumerate(rows):
            assert number == index + 1 and content == cls.text(number), f"row {index + 1} is another"
        database.execute("pragma wal_checkpoint(truncate)")
        database.close()
