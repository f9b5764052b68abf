#!/usr/bin/python3
"""A device whose owner is hostile, the files outside of it that nobody may touch, and root's program that serves it.

Everything lies on one filesystem, so that hard links lead out too:

    roots/    root's: a secret, a closed directory, one where everybody may write, a device node, a device of root's,
              and `twin`, a copy of the owner's device that everybody may write in: only that no link is followed keeps
              the program out
    others/   another user's
    his/      the owner's, outside of the device
    owned/    the owner's: the device and what he puts in its place
    work/     root's: mount points and files that commands are given"""

import hashlib
import os
import pwd
import re
import shutil
import signal
import stat
import subprocess
import tempfile
import time

from detector import Openings, Touches
from kit import check, libc

APP = "com.example.Notes"
PR_SET_CHILD_SUBREAPER = 36
# Files that the program may open outside of the device: its own, its libraries, what the C library reads, its runtime
# directory.
ALLOWED = re.compile(
    r"/(proc|sys|usr|lib|lib64|bin|run/appcontainer)(/.*)?|/|/run|/dev(/null|/fuse|/u?random|/tty)?"
    r"|/etc(/passwd|/group|/nsswitch\.conf|/ld\.so\.\w+|/localtime|/fuse\.conf|/ssl/.*|/mtab|/locale\.alias)?"
    r"|{base}(/appcontainer|/Notes\.app.*)?"
    r"|.*/lib[^/]*\.so[.\d]*|.* \(deleted\)|/tmp(/appcontainer-.*)?|anon_inode:.*".replace("{base}", re.escape(os.environ["BASE"])))
CRASHES = {signal.SIGSEGV, signal.SIGABRT, signal.SIGILL, signal.SIGTRAP, signal.SIGBUS, signal.SIGFPE}


class World:
    def __init__(self, place):
        self.place = place
        account = pwd.getpwnam(os.environ["TEST_USER"])
        self.user, self.group = account.pw_uid, account.pw_gid
        self.environment = {
            "PATH": os.environ["PATH"], "WORK": os.environ["WORK"], "LC_ALL": "C.UTF-8", "HOME": "/root",
            "APPCONTAINER_TRUST_OWNER": account.pw_name, "APPCONTAINER_TRANSPORT": os.environ["APPCONTAINER_TRANSPORT"]}
        libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        self.complaints = []
        os.umask(0o022)
        os.mkdir(place)
        # A hard link of the owner's makes a file one of the device: `linked` is his to lose.
        for name in ("work", "work/home", "owned", "his", "roots", "others"):
            os.mkdir(self.at(name))
        os.chown(self.at("owned"), self.user, self.group)
        self.code = self.make("work/code", b"271828\n", 0o600)
        self.make_templates()
        self.make_canaries()
        self.device = self.at("owned/device")
        self.home = self.at("work/home")
        self.touches = Touches(self.at("roots"), self.at("others"), self.at("his"))
        self.touches.linked = {self.at("roots/shared")}
        self.openings = Openings("/", "/dev", "/run", "/tmp", "/etc")
        # So that each reading changes the time of access.
        for path in list(self.canaries()):
            os.utime(path, ns=(10**18, 2 * 10**18), follow_symlinks=False)
        self.before = self.snapshot()
        # For complaints of a round alone.
        self.heard = 0

    def at(self, name):
        return os.path.join(self.place, name)

    def make(self, name, content, mode, user=0):
        path = self.at(name)
        with open(path, "wb") as file:
            file.write(content)
        os.chmod(path, mode)
        os.chown(path, user, -1)
        return path

    def make_templates(self):
        """Devices of the owner that each round has a copy of, and an app and a backup of his."""
        def by_owner():
            shutil.copytree(os.environ["BASE"] + "/Notes.app", self.at("owned/Notes.app"))
            with open(self.at("owned/mail.txt"), "w") as mail:
                mail.write("mail")
            for name, options in (("plain", []), ("protected", ["--passcode-file", self.at("owned/code"), "--kdf-cost", "1"])):
                device = self.at("owned/" + name)
                home = self.at("owned/home")
                os.makedirs(home, exist_ok=True)
                if options:
                    shutil.copy(os.environ["WORK"] + "/code", self.at("owned/code"))
                    os.chmod(self.at("owned/code"), 0o600)
                program(["create", device, *options])
                program(["install", device, self.at("owned/Notes.app"), "--group", "group.com.example.shared"])
                program(["mount", device, APP, home, *options[:2]])
                fill(home + "/Documents/d")
                fill(home + "/Library/Caches/d")
                fill(home + "/Groups/group.com.example.shared/d")
                program(["unmount", home])
                if options:
                    program(["backup-password", device, "set", "--new-file", self.at("owned/code")])
                else:
                    program(["backup", device, self.at("owned/backup.tar")])
                program(["shutdown", device])
                if not options:
                    program(["export", device, self.at("owned/template")])
        shutil.copy(self.code, os.environ["WORK"] + "/code")
        os.chmod(os.environ["WORK"] + "/code", 0o644)
        os.chmod(os.environ["WORK"], 0o755)
        self.as_owner(by_owner)
        os.remove(os.environ["WORK"] + "/code")

    def make_canaries(self):
        self.make("roots/secret", b"secret of root", 0o600)
        self.make("roots/shared", b"everybody may write here", 0o666)
        os.mkdir(self.at("roots/closed"), 0o700)
        self.make("roots/closed/secret", b"another secret", 0o600)
        os.mkdir(self.at("roots/public"))
        os.chmod(self.at("roots/public"), 0o777)
        os.mknod(self.at("roots/zero"), stat.S_IFCHR | 0o666, os.makedev(1, 5))
        os.chmod(self.at("roots/zero"), 0o666)
        subprocess.run(["cp", "-R", self.at("owned/plain"), self.at("roots/twin")], check=True)
        subprocess.run(["chmod", "-R", "a+rwX", self.at("roots/twin")], check=True)
        program(["create", self.at("roots/device")])
        self.make("others/file", b"of another user", 0o600, 65534)
        self.make("his/file", b"of the owner, elsewhere", 0o644, self.user)
        os.mkdir(self.at("his/folder"))
        self.make("his/folder/entry", b"of the owner, elsewhere too", 0o644, self.user)
        os.chown(self.at("his/folder"), self.user, self.group)
        os.chown(self.at("his"), self.user, self.group)

    def canaries(self):
        for top in ("roots", "others", "his"):
            yield self.at(top)
            for folder, folders, files in os.walk(self.at(top)):
                yield from (os.path.join(folder, name) for name in folders + files)

    def snapshot(self):
        """All that is to be known of the canaries, without a trace of this look."""
        found = {}
        for top in ("roots", "others", "his"):
            pending = [self.at(top)]
            while pending:
                path = pending.pop()
                status = os.lstat(path)
                linked = path == self.at("roots/shared")
                # A command may read what is the owner's where its path leads there.
                read = 0 if path.startswith(self.at("his")) else status.st_atime_ns
                content = b""
                if stat.S_ISDIR(status.st_mode):
                    file = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOATIME)
                    names = sorted(os.listdir(file))
                    os.close(file)
                    pending += [os.path.join(path, name) for name in names]
                elif stat.S_ISREG(status.st_mode):
                    file = os.open(path, os.O_RDONLY | os.O_NOATIME)
                    content = hashlib.sha256(os.read(file, 1 << 20)).digest()
                    os.close(file)
                found[path] = (
                    oct(status.st_mode), status.st_uid, status.st_gid, status.st_size, status.st_mtime_ns, content,
                    *((0, 0, 0) if linked else (status.st_nlink, read, status.st_ctime_ns)))
        return found

    # MARK: Whose processes

    def as_owner(self, body, wait=True):
        """Runs body in a process of the owner."""
        child = os.fork()
        if child == 0:
            try:
                os.setgroups([])
                os.setresgid(self.group, self.group, self.group)
                os.setresuid(self.user, self.user, self.user)
                body()
                os._exit(0)
            except BaseException as problem:
                print(f"in the owner's process: {problem!r}", flush=True)
                os._exit(1)
        for group in (getattr(self, "touches", None), getattr(self, "openings", None)):
            if group:
                group.others.add(child)
        if wait:
            check(os.waitpid(child, 0)[1] == 0, "the owner's process failed")
        return child

    def run(self, words, stdin="", limit=30):
        """The exit code of root's command; its end by a signal and its wait are complaints. Output goes to `self.output`."""
        # A page and volumes are served until somebody ends that. SIGTERM may come before the command heeds it.
        ended = ["timeout", "--preserve-status", "1"] if words[0] in ("ui", "volumes") else []
        with tempfile.TemporaryFile() as output:
            child = subprocess.Popen(
                [*ended, "appcontainer", *words], env=self.environment, stdin=subprocess.PIPE, stdout=output, stderr=output,
                cwd=self.at("work"))
            try:
                child.stdin.write(stdin.encode())
                child.stdin.close()
            except BrokenPipeError:
                pass
            try:
                code = child.wait(limit)
            except subprocess.TimeoutExpired:
                self.complaints.append(f"no end after {limit} s: {self.state(child.pid)}")
                child.kill()
                code = child.wait()
            output.seek(0)
            self.output = output.read().decode(errors="replace")
        if -code in CRASHES:
            self.complaints.append(f"ended by signal {-code}: {self.output[-600:]}")
        return code

    @staticmethod
    def state(process):
        try:
            return " ".join(
                f"{name}: {open(f'/proc/{process}/task/{task}/{name}').read().strip()}"
                for task in os.listdir(f"/proc/{process}/task") for name in ("wchan", "syscall"))
        except OSError as problem:
            return str(problem)

    @staticmethod
    def children():
        """Processes of this one, and those that were left to it."""
        found = []
        for name in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{name}/stat") as file:
                    fields = file.read().rsplit(")", 1)[1].split()
            except OSError:
                continue
            if int(fields[1]) == os.getpid():
                found.append(int(name))
        return found

    def end_processes(self):
        """Ends the device's process and what it leaves. One that does not end, or crashed before, is a complaint."""
        waited = time.monotonic() + 30
        told = {}
        while children := self.children():
            for child in children:
                ended, status = os.waitpid(child, os.WNOHANG)
                if ended:
                    if os.WIFSIGNALED(status) and os.WTERMSIG(status) in CRASHES:
                        self.complaints.append(f"the device's process ended by signal {os.WTERMSIG(status)}")
                elif child not in told:
                    told[child] = True
                    os.kill(child, signal.SIGTERM)
                elif time.monotonic() > waited:
                    self.complaints.append(f"the device's process does not end: {self.state(child)}")
                    os.kill(child, signal.SIGKILL)
                    waited += 30
            time.sleep(0.002)
        with open("/proc/self/mounts") as mounts:
            for line in reversed(mounts.read().splitlines()):
                where = line.split()[1]
                if line.split()[2].startswith("fuse") and where.startswith((self.place, "/run/appcontainer")):
                    subprocess.run(["umount", "-l", where], check=False)

    # MARK: Rounds

    def begin(self, template="plain"):
        """A device as new, and nothing else of an earlier round."""
        def fresh():
            for name in os.listdir(self.at("owned")):
                if name not in ("plain", "protected", "Notes.app", "backup.tar", "template", "mail.txt", "code"):
                    remove(self.at("owned/" + name))
            subprocess.run(["cp", "-a", self.at("owned/" + template), self.device], check=True)
            subprocess.run(["cp", "-a", self.at("owned/Notes.app"), self.at("owned/New.app")], check=True)
            with open(self.at("owned/linked"), "wb") as file:
                file.write(b"of the owner, by another name")
            for name in ("decoys", "home"):
                os.mkdir(self.at("owned/" + name))
        for name in os.listdir(self.at("work")):
            if name not in ("home", "code"):
                remove(self.at("work/" + name))
        # Root's, where root made it in the owner's directory, as a new device.
        for name in os.listdir(self.at("owned")):
            if os.lstat(self.at("owned/" + name)).st_uid == 0:
                remove(self.at("owned/" + name))
        self.as_owner(fresh)
        # Its own programs are no program of root's.
        self.touches.seen(), self.openings.seen(ALLOWED)

    def finish(self, words, named=False):
        """Tells, with the words of this round, of all that it did and should not. Where the command named what was
        exchanged, it reads what its path leads to, as far as the owner may."""
        self.end_processes()
        may_read = {path for path in self.touches.paths.values() if path.startswith(self.at("his"))}
        self.touches.readable = may_read | {self.at("roots/shared"), self.at("roots/zero")} if named else set()
        self.complaints += self.touches.seen() + self.openings.seen(ALLOWED)
        for line in self.complaints[self.heard:]:
            print(f"{words}: {line}", flush=True)
        self.heard = len(self.complaints)

    def done(self):
        after = self.snapshot()
        for path in sorted(set(self.before) | set(after)):
            if self.before.get(path) != after.get(path):
                self.complaints.append(f"{path} was {self.before.get(path)}, is {after.get(path)}")
                print(self.complaints[-1])
        check(not self.complaints, len(self.complaints), "complaints")


def remove(path):
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path, ignore_errors=True)
    else:
        os.unlink(path)


def program(words):
    result = subprocess.run(["appcontainer", *words], capture_output=True, check=False, stdin=subprocess.DEVNULL)
    check(result.returncode == 0, words, result.stderr)


def fill(folder):
    """Entries of all kinds, which calls find and make."""
    os.makedirs(folder + "/sub")
    for name in ("file", "other", "sub/file"):
        with open(f"{folder}/{name}", "wb") as file:
            file.write(name.encode() * 4000)
    os.symlink("file", folder + "/link")
    os.link(folder + "/other", folder + "/hard")
    os.mkfifo(folder + "/fifo")
    os.setxattr(folder + "/file", "user.note", b"x")
