// The command lines that do what the page does, as a shell takes them.
"use strict";

const bareWord = /^[A-Za-z0-9_@%+:,./-][A-Za-z0-9_@%+=:,./-]*$/;

/**
 * A word as bash, zsh and ksh read it back, on one line. Characters that would not be seen are escapes, so that the
 * line that is pasted is the one that was read.
 */
function quoted(word) {
    if (bareWord.test(word)) return word;
    const plain = "'" + word.replaceAll("'", "'\\''") + "'";
    if (word.replace(unseen, "") === word) return plain;
    const escapes = { "\n": "\\n", "\r": "\\r", "\t": "\\t", "'": "\\'", "\\": "\\\\" };
    const written = character => escapes[character] ?? (unseen.test(character) ? octal(character) : character);
    return "$'" + [...word].map(character => {
        unseen.lastIndex = 0;
        return written(character);
    }).join("") + "'";
}

// By bytes: \u means what the reader's locale says.
function octal(character) {
    return bytesOf(character).map(byte => "\\" + byte.toString(8).padStart(3, "0")).join("");
}

/** A relative path that no command takes for an option. */
function asPath(path) {
    return path.startsWith("-") ? "./" + path : path;
}

function line(...words) {
    return ["appcontainer", ...words].map(quoted).join(" ");
}

const commands = {
    lock: () => line("lock", page.device),
    lockNow: () => line("lock", page.device, "--now"),
    unlock: () => line("unlock", page.device),
    restart: () => line("restart", page.device),
    boot: () => line("boot", page.device),
    ui: () => line("ui", page.device),
    purge: (order, isDry) => line("purge", page.device, ...(order.app ? ["--app", order.app] : []),
        ...(order.free !== undefined ? ["--free", String(order.free)] : []),
        ...(order.level ? ["--level", order.level] : []),
        ...(order.olderThan !== undefined ? ["--older-than", String(order.olderThan)] : []),
        ...(isDry ? ["--dry-run"] : [])),
    clock: seconds => line("clock", page.device, "advance", spanWord(seconds)),
    realClock: () => line("clock", page.device, "real"),
    conditions: (word, isOn) => line("conditions", page.device, word, isOn ? "on" : "off"),
    backup: order => line("backup", page.device, asPath(order.output), ...(order.app ? ["--app", order.app] : []),
        ...(order.format === "finder" ? ["--format", "finder"] : []),
        ...(order.ignoreExclusions ? ["--ignore-exclusions"] : []),
        ...(order.password ? ["--password-file", "password"] : [])),
    report: app => line("report", page.device, app, app + ".html"),
    deliver: (app, names) => line("deliver", page.device, app, ...names.map(asPath)),
    suspend: app => line("suspend", page.device, app),
    resume: app => line("resume", page.device, app),
    terminate: (app, memory) => line("terminate", page.device, app, ...(memory ? ["--memory"] : [])),
    exclude: (home, path) => onMount(home, path, "exclude"),
    include: (home, path) => onMount(home, path, "include"),
    protect: (home, path, word, recursive) => onMount(home, path, "protect", ...(recursive ? ["-R"] : []), word),
    inspect: (home, path) => onMount(home, path, "inspect"),
    explain: () => line("explain", page.device),
    audit: app => line("audit", page.device, app),
};

/** A command that works on a mounted home: where the app is not mounted, it is mounted first. */
function onMount(home, path, ...words) {
    if (!path.isWellFormed()) return "# No command takes a name that is not UTF-8; the page does.";
    if (home.mountPoint) return line(...words, home.mountPoint + "/" + path);
    return `mkdir home && ${line("mount", page.device, home.identifier, "home")} && ${line(...words, "home/" + path)}`;
}

/** Seconds as the command line has them, in the largest unit that is exact. */
function spanWord(seconds) {
    for (const [unit, size] of [["w", 604800], ["d", 86400], ["h", 3600], ["m", 60]]) {
        if (seconds > 0 && seconds % size === 0) return seconds / size + unit;
    }
    return seconds + "s";
}
