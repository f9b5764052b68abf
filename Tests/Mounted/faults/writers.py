"""Writers on a mount know what they were told is safe, and whether it is there after everything was stopped.

A writer keeps outside the mount what was there when it was last told that a file is safe, and every state that it
asked for since. Afterwards each block of 4 KiB must be as it was in one of these states, and so must the length be
between the shortest and the longest: what was acknowledged and not touched since is there in full. The
program that stops the writers decides which calls are an acknowledgement."""

import os
import random
import threading

BLOCK = 4096
LARGEST = 300_000


class Kept:
    """One file: its states since the last acknowledgement, oldest first; None where it did not exist."""

    def __init__(self, state=None):
        self.states = [state]
        self.history = []

    def note(self, what):
        """The last things that happened, for a failure's message."""
        self.history = self.history[-7:] + [what]

    def ask(self, state, changed=range(0)):
        """A state is about to be asked for; `changed` are the bytes that are written, or were there and go."""
        del changed
        self.states.append(state)
        self.note(None if state is None else len(state))

    def acknowledge(self, by):
        self.states = [self.states[-1]]
        self.note(by)

    def contents(self, path):
        """The file's content, and the numbers of the blocks that may be unreadable and are."""
        with open(path, "rb") as file:
            return file.read(), set()

    def compare(self, path):
        """The file's content now, which is acknowledged from now on; or fails."""
        try:
            got, unreadable = self.contents(path)
        except FileNotFoundError:
            assert None in self.states, f"{path} is gone; lately {self.history}"
            self.states = [None]
            return
        assert len(got) == os.stat(path).st_size, f"{path}: stat tells another length than {len(got)}"
        states = [state for state in self.states if state is not None]
        assert states, f"{path} was removed; lately {self.history}"
        lengths = [len(state) for state in states]
        assert min(lengths) <= len(got) <= max(lengths), \
            f"{path}: {len(got)} bytes, not between {min(lengths)} and {max(lengths)}; lengths lately {self.history}"
        for start in range(0, len(got), BLOCK):
            if start // BLOCK in unreadable:
                continue
            block = got[start:start + BLOCK]
            known = [state[start:start + len(block)].ljust(len(block), b"\0") for state in states]
            if block not in known:
                same = max(sum(a == b for a, b in zip(block, state)) for state in known)
                raise AssertionError(
                    f"{path}: block {start // BLOCK} of {len(got)} bytes is of no state of {len(states)}: {same} bytes"
                    f" as in the nearest, {block.count(0)} zeros; lengths lately {self.history}")
        self.states = [got]
        self.note("looked at")


def compare(directory, files):
    """Every file that a writer knows, and no other."""
    for name, kept in files.items():
        states = kept.states
        kept.compare(os.path.join(directory, name))
        if name == "replaced":
            assert kept.states[0] in states, f"{directory}/{name} is neither the old nor the new file"
    present = {os.path.relpath(os.path.join(place, name), directory)
               for place, _, names in os.walk(directory) for name in names}
    expected = {name for name, kept in files.items() if kept.states[0] is not None}
    assert present == expected, f"{directory} lists {sorted(present ^ expected)} wrongly"


class Writer(threading.Thread):
    """Works on one large file that stays open, on small ones, and on one that is replaced; until it is stopped."""

    make_kept = Kept
    # The answers of calls once there is nobody to do the work.
    endings = frozenset()

    def __init__(self, directory, number, seed, files=None):
        super().__init__()
        self.directory = os.path.join(directory, f"writer-{number}")
        self.source = random.Random(seed)
        self.files = {} if files is None else files
        self.acknowledged = 0
        self.calls = 0
        self.problem = None
        self.stopped = False

    def path(self, name):
        return os.path.join(self.directory, name)

    def kept(self, name):
        if name not in self.files:
            self.files[name] = self.make_kept()
        return self.files[name]

    def run(self):
        try:
            os.makedirs(self.directory, exist_ok=True)
            self.prepare()
            while not self.stopped:
                self.step()
        except OSError as problem:
            if problem.errno not in self.endings:
                self.problem = repr(problem)
        except BaseException as problem:
            self.problem = repr(problem)

    def prepare(self):
        pass

    def step(self):
        what = self.source.randrange(6)
        if what <= 2:
            self.change("large", self.source.randrange(1, 12))
        elif what == 3:
            self.change(f"middle-{self.source.randrange(4)}", self.source.randrange(1, 4))
        elif what == 4:
            self.small(f"small-{self.source.randrange(20)}")
        else:
            self.replace("replaced")

    # The call that makes things safe depends on what is going to stop the writer.

    def acknowledge(self, by, *kept):
        for each in kept:
            each.acknowledge(by)
        self.acknowledged += 1

    def written(self, file, kept, safe):
        """A new file has its content, and is about to be closed. `safe`: its name will be counted on."""

    def closed(self, kept):
        """A file was closed after a change."""

    def moved(self, *kept):
        """Names were taken away or moved."""

    def change(self, name, steps):
        """Overwrites, appends and truncations of one file, made safe by fsync, by what a close does, or not at all."""
        kept = self.kept(name)
        created = kept.states[-1] is None
        model = bytearray(kept.states[-1] or b"")
        if created:
            kept.ask(b"")
        file = os.open(self.path(name), os.O_RDWR | os.O_CREAT, 0o644)
        try:
            for _ in range(steps):
                self.calls += 1
                data = self.source.randbytes(self.source.choice((1, 100, 4096, 8192, 50_000, 131_072)))
                what = self.source.randrange(5)
                if what <= 1 and model:
                    offset = self.source.randrange(len(model))
                    if self.source.randrange(2):
                        offset -= offset % BLOCK
                    data = data[:len(model) - offset]
                    model[offset:offset + len(data)] = data
                    kept.ask(bytes(model), range(offset, offset + len(data)))
                    os.pwrite(file, data, offset)
                elif what == 2 and len(model) + len(data) <= LARGEST:
                    offset = len(model)
                    model += data
                    kept.ask(bytes(model), range(offset, len(model)))
                    os.pwrite(file, data, offset)
                elif what == 3:
                    size = self.source.randrange(min(len(model) + 10_000, LARGEST))
                    # Zeros that are added behind the end touch no block that is there.
                    changed = range(min(size, len(model)), len(model))
                    if size < len(model):
                        del model[size:]
                    else:
                        model += bytes(size - len(model))
                    kept.ask(bytes(model), changed)
                    os.ftruncate(file, size)
                elif what == 4:
                    self.synchronize(file)
                    self.acknowledge("fsync", kept)
        except BaseException:
            try:
                os.close(file)
            except OSError:
                pass
            raise
        os.close(file)
        self.closed(kept)

    def synchronize(self, file):
        os.fsync(file)

    def put(self, name, data, mode, safe=False):
        """A whole file, written at once."""
        kept = self.kept(name)
        self.calls += 1
        # A new file is empty before it is written, and one that was left behind is cut to nothing.
        kept.ask(b"")
        kept.ask(data, range(len(data)))
        with open(self.path(name), mode) as file:
            file.write(data)
            file.flush()
            self.written(file.fileno(), kept, safe)
        self.closed(kept)

    def small(self, name):
        """A small file, made or removed."""
        kept = self.kept(name)
        if kept.states[-1] is None:
            self.put(name, self.source.randbytes(self.source.choice((0, 1, 100, 5000))), "xb")
            return
        self.calls += 1
        kept.ask(None)
        os.unlink(self.path(name))
        self.moved(kept)

    def replace(self, name):
        """A file written beside the old one and renamed over it: whole, the old or the new one."""
        data = self.source.randbytes(self.source.choice((10, 5000, 20_000)))
        self.put(name + ".new", data, "wb", safe=True)
        self.rename(name + ".new", name)

    def rename(self, name, new_name):
        kept, new = self.kept(name), self.kept(new_name)
        self.calls += 1
        new.ask(kept.states[-1])
        kept.ask(None)
        os.rename(self.path(name), self.path(new_name))
        self.moved(kept, new)
