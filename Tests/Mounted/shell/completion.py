#!/usr/bin/python3
"""Completes words in interactive shells, on terminals of their own, and reads what becomes of the line.

    completion.py PLACE     with scripts/SHELL; device and `my phone` with com.example.Notes and com.example.Mail, and the
                            first mounted at `my homes/one & only`"""

import os
import pty
import select
import subprocess
import sys
import tempfile
import time

from kit import check

place = os.path.realpath(sys.argv[1])
home = os.path.join(place, "my homes/one & only")
KEY_SHOW = b"\x0f"
SETUP = {
    "bash": """PS1='> '; set +o history; bind 'set bell-style none'; bind 'set completion-query-items 0'
bind 'set page-completions off'; shown() {{ printf '%s' "$READLINE_LINE" >{out}; }}; bind -x '"\\C-o": shown'
. {script}
""",
    "fish": """function fish_prompt; printf '> '; end; function fish_greeting; end
function shown; commandline | string collect -N | string trim -r -c \\n >{out}; end; bind \\co shown; bind \\cu kill-whole-line
source {script}
""",
    "zsh": """PROMPT='> '; setopt NO_BEEP; unset zle_bracketed_paste; autoload -Uz compinit; compinit -u -D; LISTMAX=9999
shown() {{ print -rn -- "$BUFFER" >{out}; }}; zle -N shown; bindkey '^O' shown; bindkey '^I' complete-word
. {script}
""",
}


class Shell:
    """An interactive shell. `line` types a text and a tab, and returns what the line is then."""

    def __init__(self, kind):
        self.out = tempfile.mktemp(dir=place)
        arguments = {"bash": ["bash", "--norc", "--noprofile", "-i"], "zsh": ["zsh", "-f", "-i"],
                     "fish": ["fish", "--no-config", "-i"]}[kind]
        pid, self.terminal = pty.fork()
        if pid == 0:
            os.chdir(place)
            os.execvpe(arguments[0], arguments, environment("xterm"))
        self.pid = pid
        for line in SETUP[kind].format(out=f"'{self.out}'", script=f"'{place}/scripts/{kind}'").splitlines():
            self.type(line.encode() + b"\n")
            self.drain(0.3)
        self.drain(0.5)

    def type(self, keys):
        os.write(self.terminal, keys)

    def drain(self, seconds):
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if select.select([self.terminal], [], [], left)[0]:
                os.read(self.terminal, 65536)

    def line(self, text):
        self.type(b"\x15" + text.encode() + b"\t" + KEY_SHOW)
        end = time.monotonic() + 20
        while not os.path.exists(self.out) or not os.path.getsize(self.out):
            check(time.monotonic() < end, "the shell does not answer to", text)
            self.drain(0.02)
        self.drain(0.05)
        with open(self.out) as file:
            shown = file.read().rstrip("\n")
        os.unlink(self.out)
        self.type(b"\x15")
        return shown

    def close(self):
        os.close(self.terminal)
        os.waitpid(self.pid, 0)


def environment(terminal):
    return {**os.environ, "PATH": f"{place}/bin:/usr/bin:/bin", "HOME": place, "TERM": terminal, "LC_ALL": "C.UTF-8",
            "HISTFILE": ""}


# A line as typed, and as it becomes. The last blank is the shell's, which goes on to the next word.
LINES = [
    ("status dev", "status device/"),
    ("mount device com.example.N", "mount device com.example.Notes "),
    ("mount device com.e", "mount device com.example."),
    (r"mount my\ phone com.example.M", r"mount my\ phone com.example.Mail "),
    ('mount "my phone" com.example.M', 'mount "my phone" com.example.Mail '),
    ("mount ~/device com.example.M", "mount ~/device com.example.Mail "),
    ("backup device new.tar --app com.example.M", "backup device new.tar --app com.example.Mail "),
    ("path device com.example.Notes gr", "path device com.example.Notes group.com.example.shared "),
    ("protect complete-", "protect complete-unless-open "),
    ("clock device a", "clock device advance "),
    ("mount device com.example.Notes home --transport d", "mount device com.example.Notes home --transport dev-fuse "),
    ("mount device com.example.Notes home --allow", "mount device com.example.Notes home --allow-other "),
    ("inst", "install "),
    # Nothing to say, and nothing said.
    ("mount nowhere com.e", "mount nowhere com.e"),
    ("mount /etc com.e", "mount /etc com.e"),
]


def interactive(kind):
    shell = Shell(kind)
    escaped = home.replace(" ", "\\ ").replace("&", "\\&")
    # fish takes a second for each on its terminal, and answers the rest without one below.
    for typed, expected in LINES[::4] if kind == "fish" else LINES:
        got = shell.line("appcontainer " + typed)
        check(got == "appcontainer " + expected, kind, repr(typed), "became", repr(got))
    for typed, end in (
        ("unmount " + place + "/my", (" ", "/")), (r"unmount my", (" ", "/")), ("inspect " + place + "/my", ("/",)),
    ):
        got = shell.line("appcontainer " + typed)
        wanted = typed[: typed.index(" ") + 1] + (escaped if place in typed else r"my\ homes/one\ \&\ only")
        if typed.startswith("inspect"):
            # As far as paths go without a look into the next directory.
            wanted = "inspect " + place.replace(" ", "\\ ") + r"/my\ "
            end = ("",)
        check(got in ["appcontainer " + wanted + tail for tail in end], kind, repr(typed), "became", repr(got))
    shell.close()


def fish(typed):
    done = subprocess.run(
        ["fish", "--no-config", "-c", f"source '{place}/scripts/fish'; complete -C $argv[1]", "--",
         "appcontainer " + typed],
        cwd=place, env=environment("dumb"), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    check(done.returncode == 0, typed, done.stdout)
    return [line.split("\t")[0] for line in done.stdout.splitlines()]


def fish_completes():
    apps = ["com.example.Mail", "com.example.Notes"]
    for typed, expected in [
        ("mount device ", apps), (r"mount my\ phone ", apps), ('mount "my phone" com.example.M', apps[:1]),
        ("mount ~/device ", apps), ("backup device new.tar --app ", apps), ("mount nowhere ", []),
        ("path device com.example.Notes ", ["app", "data", "group.com.example.shared"]),
        ("protect c", ["complete", "complete-unless-open"]), ("clock device ", ["advance", "real"]),
        (r"create my\ h", [r"my homes/"]), (r"create my\ homes/", [r"my homes/one & only/"]), ("instal", ["install"]),
    ]:
        got = fish(typed)
        check(sorted(word.replace("\\", "") for word in got) == sorted(expected), "fish", repr(typed), got, expected)
    check(home in [word.replace("\\", "") for word in fish("unmount ")], fish("unmount "))
    check(home + "/" in [word.replace("\\", "") for word in fish("inspect ")], fish("inspect "))
    found = [word.replace("\\", "") for word in fish(r"inspect my\ homes/one\ \&\ only/Doc")]
    check(found == ["my homes/one & only/Documents/"], found)


def bash_is_left_as_it_was():
    """A script that is read after a completion keeps the options that were set in between."""
    done = subprocess.run(
        ["bash", "--norc", "-c", f"""
. '{place}/scripts/bash'
COMP_WORDS=(appcontainer mount device com.example.N) COMP_CWORD=3 COMP_LINE="${{COMP_WORDS[*]}}" COMP_POINT=${{#COMP_LINE}}
_appcontainer appcontainer com.example.N device
printf '%s\\n' "${{COMPREPLY[@]}}"
set -o noclobber
. /dev/null
shopt -po noclobber; trap -p RETURN"""],
        cwd=place, env=environment("dumb"), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    check(done.stdout == "com.example.Notes\nset -o noclobber\n", done.stdout)


def names_run_no_commands():
    """bash expands the words of a list: a mount point's name must not run."""
    runs_no_command("homes$(touch ran)`touch ran`")
    # To Swift these letters and the backquote after each are one character.
    runs_no_command("homes\u0d4e`touch ran\u0d4e`\u0d4e$HOME")


def runs_no_command(name):
    mark = os.path.join(place, "ran")
    evil = os.path.join(place, name)
    os.mkdir(evil)
    done = subprocess.run(["appcontainer", "mount", f"{place}/device", "com.example.Mail", evil], cwd=place)
    check(done.returncode == 0, "cannot mount")
    try:
        done = subprocess.run(
            ["bash", "--norc", "-c", f"""
. '{place}/scripts/bash'
COMP_WORDS=(appcontainer unmount '') COMP_CWORD=2 COMP_LINE='appcontainer unmount ' COMP_POINT=21
_appcontainer appcontainer '' unmount
printf '%s\\n' "${{COMPREPLY[@]}}" """],
            cwd=place, env=environment("dumb"), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        check(evil in done.stdout.splitlines() and home in done.stdout.splitlines(), done.stdout)
        check(evil in [word.replace("\\", "") for word in fish("unmount ")], fish("unmount "))
        check(not os.path.exists(mark), "a name ran as a command")
    finally:
        subprocess.run(["appcontainer", "unmount", evil], cwd=place, check=True)


def costs_little():
    """The shells wait for the command: it calls the kernel little more than one that only tells its version."""
    question = ["---completion", "mount", "--", "positional@1", "3", "0", "appcontainer", "mount", f"{place}/device", ""]
    answer, calls = traced(*question)
    check("com.example.Notes\n" in answer, answer)
    usual = len(traced("--version")[1])
    print(f"a completion made {len(calls)} calls, --version {usual}")
    check(usual < len(calls) < usual + 300, len(calls), usual)
    check(sum(" execve(" in call for call in calls) == 1, "it starts another program")
    check(not any("nanosleep(" in call for call in calls), "it sleeps")


def traced(*arguments):
    """The output of a command, and the lines of strace, each a call."""
    trace = f"{place}/trace"
    done = subprocess.run(["strace", "-f", "-qq", "-o", trace, "appcontainer", *arguments],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    check(done.returncode == 0, "strace:", done.stdout)
    with open(trace, errors="replace") as lines:
        return done.stdout, [line for line in lines if " resumed>" not in line]


bash_is_left_as_it_was()
for name in ("bash", "zsh", "fish"):
    interactive(name)
fish_completes()
names_run_no_commands()
costs_little()
