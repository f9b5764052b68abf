#!/usr/bin/python3
"""Leases over the control socket, signals to a runner, and a terminal under one.

    running.py lease SOCKET APP
    running.py signals DEVICE APP DOCUMENTS [--confine]
    running.py terminal DEVICE APP DOCUMENTS [--confine]
    running.py stop DEVICE APP DOCUMENTS
"""

import errno
import fcntl
import json
import os
import pty
import select
import signal
import subprocess
import sys
import termios
import time

from kit import ControlConnection, check

PATIENCE = 30


def until(condition, *what):
    """Waits for something that comes in a moment, on a machine that may have much else to do."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        check(time.monotonic() < deadline, "did not come true:", *what)
        time.sleep(0.02)


def processes():
    """Of all processes that /proc shows: name, state, parent and process group, by number."""
    found = {}
    for number in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{number}/stat") as file:
                head, rest = file.read().rsplit(")", 1)
        except OSError:
            # It has ended meanwhile.
            continue
        state, parent, group = rest.split()[:3]
        found[int(number)] = head.split("(", 1)[1], state, int(parent), int(group)
    return found


def runs_below(name, runner):
    """Whether a process of that name descends from the runner."""
    known = processes()
    for process, (called, *_) in known.items():
        while called == name and process in known:
            process = known[process][2]
            if process == runner:
                return True
    return False


def ask(path, method, command, values=None):
    connection = ControlConnection(path)
    connection.request(method, "/v1/" + command, json.dumps(values or {}) if method == "POST" else None)
    answer = connection.getresponse()
    body = json.loads(answer.read())
    connection.close()
    return answer.status, body


class Lease:
    def __init__(self, path, app, detached=False):
        self.connection = ControlConnection(path)
        self.connection.request("POST", "/v1/run", json.dumps({"app": app, "detached": detached}),
                                {"Accept": "application/x-ndjson"})
        self.answer = self.connection.getresponse()
        check(self.answer.status == 200, self.answer.status)
        self.result = None
        while self.result is None:
            line = json.loads(self.answer.readline())
            check("complaint" not in line, line)
            self.result = line.get("result")
        self.number = self.result["lease"]

    def leave(self):
        self.answer.close()
        self.connection.close()


def lease(path, app):
    leases = Leases(path, app)
    leases.begin_with_an_answer_that_is_read()
    leases.end_with_their_connection()
    leases.end_by_request()
    leases.end_when_terminated()
    leases.end_with_their_process()
    leases.go_on_when_detached()


class Leases:
    """Those of one app, and the daemon's answers about them."""

    def __init__(self, path, app):
        self.path, self.app = path, app

    def begun(self, **options):
        return Lease(self.path, self.app, **options)

    def running(self):
        return ask(self.path, "GET", "status")[1]["running"]

    def runs(self, *apps):
        running = self.running()
        check(running == list(apps), running)

    def all_end(self, what):
        until(lambda: self.running() == [], what)

    def fails(self, status, kind, command, **values):
        answer = ask(self.path, "POST", command, values)
        check(answer[0] == status and answer[1]["complaint"]["kind"] == kind, command, answer)

    def succeeds(self, command, what=None, **values):
        check(ask(self.path, "POST", command, values)[0] == 200, what or command)

    def begin_with_an_answer_that_is_read(self):
        """A client that does not read the answer as it comes would have a lease that ends at once."""
        self.fails(400, "badRequest", "run", app=self.app)
        self.runs()

    def end_with_their_connection(self):
        """A lease is what is there between the result and the end of the connection."""
        first, second = self.begun(), self.begun()
        check(first.number != second.number, "one number twice")
        self.runs(self.app)
        first.leave()
        self.runs(self.app)
        second.leave()
        self.all_end("the end with the connection")
        self.fails(409, "notRunning", "run-process", lease=second.number, pid=os.getpid())

    def end_by_request(self):
        """Of any client, and as often as somebody likes."""
        third = self.begun()
        self.succeeds("run-end", app=self.app, lease=third.number)
        self.runs()
        check(third.answer.readline() == b"", "the answer goes on")
        self.succeeds("run-end", "run-end once more", app=self.app, lease=third.number)
        self.succeeds("run-end", "run-end of nothing", app=self.app, lease=1 << 60)
        self.fails(400, "invalidIdentifier", "run-end", app="no app", lease=1)

    def end_when_terminated(self):
        """Before anything is announced as well."""
        fourth = self.begun()
        self.succeeds("terminate", app=self.app)
        self.fails(409, "notRunning", "run-process", lease=fourth.number, pid=os.getpid())
        fourth.leave()
        self.fails(409, "notRunning", "terminate", app=self.app)

    def end_with_their_process(self):
        """The lease ends when that does, and the process when the connection does."""
        fifth = self.begun()
        self.fails(400, "badRequest", "run-process", lease=fifth.number, pid=-1)
        self.fails(400, "badRequest", "run-process", lease=fifth.number, pid=1 << 30)
        # Only what is above a process can be its supervisor, and nothing that is above the daemon.
        for other in (-1, 1, 1 << 30):
            self.fails(400, "badRequest", "run-process", lease=fifth.number, pid=os.getpid(), supervisor=other)
        process = self.process_of(fifth)
        self.fails(400, "badRequest", "run-process", lease=fifth.number, pid=process.pid)
        process.kill()
        process.wait()
        self.all_end("the end with the process")
        fifth.leave()
        sixth = self.begun()
        process = self.process_of(sixth)
        sixth.leave()
        check(process.wait(PATIENCE) == -signal.SIGKILL, process.returncode)
        self.all_end("the end with connection and process")

    def go_on_when_detached(self):
        """Without the connection, once there is a process."""
        seventh = self.begun(detached=True)
        seventh.leave()
        self.all_end("the end of a detached one without a process")
        eighth = self.begun(detached=True)
        process = self.process_of(eighth)
        eighth.leave()
        # Another connection comes and goes meanwhile, so that the daemon has seen the end of that one.
        self.begun().leave()
        self.runs(self.app)
        process.terminate()
        process.wait()
        self.all_end("the end of a detached one")

    def process_of(self, lease):
        process = subprocess.Popen(["sleep", "300"])
        self.succeeds("run-process", lease=lease.number, pid=process.pid)
        return process


SCRIPT = """
import os, signal, sys
names = ["HUP", "INT", "QUIT", "TERM", "USR1", "USR2", "WINCH", "CONT"]
heard = os.open("Documents/heard", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
def hear(number, frame):
    os.write(heard, (signal.Signals(number).name + "\\n").encode())
    if number == signal.SIGTERM:
        sys.exit(11)
for name in names:
    signal.signal(getattr(signal, "SIG" + name), hear)
os.write(heard, b"ready\\n")
while True:
    signal.pause()
"""


def signals(device, app, documents, *options):
    heard = documents + "/heard"
    if os.path.exists(heard):
        os.remove(heard)
    # By a path, or the script would be read from what is not there.
    with open(documents + "/script.py", "w") as script:
        script.write(SCRIPT)
    runner = subprocess.Popen(
        ["appcontainer", "run", device, app, *options, "--", "/usr/bin/python3", "Documents/script.py"])

    def last():
        try:
            lines = open(heard).read().split()
        except FileNotFoundError:
            return None
        return lines[-1] if lines else None

    until(lambda: last() == "ready", "the script's begin")
    for name in ["SIGHUP", "SIGINT", "SIGQUIT", "SIGUSR1", "SIGUSR2", "SIGWINCH", "SIGCONT", "SIGTERM"]:
        runner.send_signal(getattr(signal, name))
        until(lambda: last() == name, name, "after", last())
    check(runner.wait(PATIENCE) == 11, runner.returncode)
    # A signal that a command does not handle ends it; the runner ends in the same way.
    runner = subprocess.Popen(["appcontainer", "run", device, app, *options, "--", "sh", "-c",
                               "touch Documents/begun; exec sleep 300"])
    until(lambda: os.path.exists(documents + "/begun"), "the command's begin")
    # The shell may not have become what it is to become.
    until(lambda: runs_below("sleep", runner.pid), "the command that the shell becomes")
    runner.send_signal(signal.SIGINT)
    ended = runner.wait(PATIENCE)
    check(ended in ([128 + signal.SIGINT] if options else [-signal.SIGINT]), ended)
    os.remove(documents + "/begun")


class Terminal:
    """A shell that leads a session at a terminal, as people have it."""

    def __init__(self, *arguments):
        self.process, self.master = pty.fork()
        if self.process == 0:
            # No more on the terminal than what the shell has to say.
            os.environ["TERM"] = "dumb"
            os.execvp(arguments[0], arguments)
        self.text = ""

    def type(self, text):
        os.write(self.master, text.encode())

    def expect(self, words):
        deadline = time.monotonic() + PATIENCE
        while words not in self.text:
            left = deadline - time.monotonic()
            check(left > 0, "no", repr(words), "at the terminal:", repr(self.text))
            if select.select([self.master], [], [], left)[0]:
                try:
                    self.text += os.read(self.master, 4096).decode(errors="replace")
                except OSError as error:
                    check(error.errno == errno.EIO, error)
                    check(words in self.text, "the terminal ended before", repr(words), repr(self.text))
        # The next output is looked for behind it.
        self.text = self.text[self.text.index(words) + len(words):]

    def size(self, rows, columns):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, rows.to_bytes(2, "little") + columns.to_bytes(2, "little") + bytes(4))

    def foreground(self):
        """Names and states of the processes in the foreground."""
        group = os.tcgetpgrp(self.master)
        return [(name, state) for name, state, _, its_group in processes().values() if its_group == group]

    def await_foreground(self, name):
        """Waits until it has a process of that name and none that is stopped: what is typed then reaches it."""
        def is_there():
            names, states = zip(*self.foreground() or [("", "")])
            return name in names and "T" not in states

        until(is_there, name, "in the foreground")

    def end(self):
        deadline = time.monotonic() + PATIENCE
        while True:
            process, status = os.waitpid(self.process, os.WNOHANG)
            if process:
                return os.waitstatus_to_exitcode(status)
            check(time.monotonic() < deadline, "the shell does not end", self.text)
            # Nobody ends who still has to be read.
            if select.select([self.master], [], [], 0.05)[0]:
                try:
                    self.text += os.read(self.master, 4096).decode(errors="replace")
                except OSError:
                    pass


# A shell without its user's settings, whose prompt is not what is typed.
def shell(name):
    return ["bash", "--norc", "--noprofile", "-i"], "PS1='%s''> '\n" % name, "%s> " % name


def terminal(device, app, documents, *options):
    arguments, prompt, mark = shell("inside")
    outer = Terminal("appcontainer", "run", device, app, *options, "--", *arguments)
    outer.type(prompt)
    outer.expect(mark)
    outer.type("pwd; test -t 0 && echo at a terminal, ''yes\n")
    outer.expect(os.path.dirname(documents))
    outer.expect("at a terminal, yes")
    # ^C ends what runs in the shell, and neither the shell nor its runner.
    outer.type("sleep 300; echo status $''?\n")
    outer.expect("echo status $''?\r\n")
    outer.await_foreground("sleep")
    outer.type("\x03")
    outer.expect("^C")
    outer.expect(mark)
    outer.type("echo still ''here\n")
    outer.expect("still here")
    # Jobs: stopped, listed, taken up again.
    outer.type("cat\n")
    outer.expect("cat\r\n")
    outer.await_foreground("cat")
    outer.type("\x1a")
    outer.expect("Stopped")
    outer.expect(mark)
    outer.type("jobs\n")
    outer.expect("cat")
    outer.expect(mark)
    outer.type("fg\n")
    outer.expect("cat\r\n")
    outer.type("echoed by cat\n")
    outer.expect("echoed by cat\r\nechoed by cat")
    outer.type("\x04")
    outer.expect(mark)
    # The terminal's size, and its change.
    outer.size(33, 77)
    outer.type("stty size\n")
    outer.expect("33 77")
    outer.expect(mark)
    outer.type("exit 9\n")
    status = outer.end()
    check(status == 9, "the shell's exit status", status, repr(outer.text))
    os.close(outer.master)
    # ^C ends a command that is not a shell: what it makes of that is what becomes of the runner.
    command = Terminal("appcontainer", "run", device, app, *options, "--", "sh", "-c",
                       "trap 'echo asked; exit 12' INT; echo ready; while :; do sleep 0.1; done")
    command.expect("ready")
    command.type("\x03")
    command.expect("asked")
    status = command.end()
    check(status == 12, "the command's exit status", status, repr(command.text))
    os.close(command.master)


EDITOR = """
import os, select, signal, sys
def suspend(number, frame):
    os.kill(os.getpid(), signal.SIGSTOP)
signal.signal(signal.SIGTSTP, suspend)
print("begun", flush=True)
while True:
    # A signal that comes between two looks is seen to at the second.
    if select.select([0], [], [], 0.05)[0]:
        print("got", os.read(0, 100).decode().strip(), flush=True)
"""


def stop(device, app, documents):
    """^Z stops the command and its runner, for the shell around them, and fg has both go on."""
    arguments, prompt, mark = shell("outside")
    outer = Terminal(*arguments)
    outer.type(prompt)
    outer.expect(mark)
    with open(documents + "/editor.py", "w") as script:
        script.write(EDITOR)
    # The second stops by itself, as an editor does: the terminal's signal alone would not do.
    for command in ["bash -c \"echo begun''; while read line; do echo got \\$line; done\"",
                    "/usr/bin/python3 Documents/editor.py"]:
        outer.type(f"appcontainer run {device} {app} -- {command}\n")
        outer.expect("begun\r\n")
        outer.type("first\n")
        outer.expect("got first")
        outer.type("\x1a")
        outer.expect("Stopped")
        outer.expect(mark)
        outer.type("echo sta''te; jobs\n")
        outer.expect("state")
        outer.expect("Stopped")
        outer.expect(mark)
        outer.type("fg\n")
        outer.expect("appcontainer")
        outer.await_foreground("appcontainer")
        outer.type("second\n")
        outer.expect("got second")
        outer.type("\x03")
        outer.expect(mark)
    outer.type("exit\n")
    outer.end()


if __name__ == "__main__":
    {"lease": lease, "signals": signals, "terminal": terminal, "stop": stop}[sys.argv[1]](*sys.argv[2:])
