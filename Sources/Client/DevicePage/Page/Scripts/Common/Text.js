// Text of a device, made safe to show; sizes and times in the reader's form.
"use strict";

// Characters that show nothing, end a line, or turn the direction of what stands beside them. With the flag u a
// surrogate matches only where it has no partner.
const unseen = new RegExp("[\\u0000-\\u001f\\u007f-\\u009f\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5"
    + "\\u180b-\\u180e\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\u3164\\ufeff\\uffa0\\ufff0-\\ufffb\\ud800-\\udfff"
    + "\\u{e0000}-\\u{e0fff}]", "gu");

function escapeOf(character) {
    const short = { "\n": "\\n", "\r": "\\r", "\t": "\\t" }[character];
    if (short) return short;
    const code = character.codePointAt(0);
    return code > 0xffff ? `\\u{${code.toString(16)}}` : "\\u" + code.toString(16).padStart(4, "0");
}

/** The text with an escape in the place of each character that would not be seen. For every string of a device. */
function shown(text) {
    return String(text).replace(unseen, escapeOf);
}

/** The text as an element of its own direction, in which escapes can be told from the same characters in a name. */
function nameOf(text) {
    const made = make("bdi");
    let end = 0;
    for (const match of String(text).matchAll(unseen)) {
        made.append(String(text).slice(end, match.index), make("span", { class: "escape" }, escapeOf(match[0])));
        end = match.index + match[0].length;
    }
    made.append(String(text).slice(end));
    return made;
}

/** The path as names with quiet slashes. */
function pathOf(path) {
    const made = make("span", { class: "path" });
    path.split("/").forEach((name, index) => {
        if (index > 0) made.append(make("span", { class: "slash" }, "/"));
        made.append(nameOf(name));
    });
    return made;
}

const mostOfFace = 60;

/** A text for a face with little room, such as a title: its beginning and its end. */
function shortened(text, most = mostOfFace) {
    const characters = [...shown(text)];
    if (characters.length <= most) return characters.join("");
    const half = Math.floor((most - 1) / 2);
    return characters.slice(0, half).join("") + "…" + characters.slice(-half).join("");
}

// MARK: Sizes and times

const byteUnits = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB"];

function bytes(count) {
    if (count === null || count === undefined) return "–";
    let unit = 0;
    let rest = count;
    while (rest >= 1024 && unit < byteUnits.length - 1) { rest /= 1024; unit += 1; }
    if (unit === 0) return counted(count, "byte");
    return rest.toFixed(rest < 100 ? 1 : 0) + " " + byteUnits[unit];
}

const grouping = new Intl.NumberFormat();

function number(count) {
    return grouping.format(count);
}

/** A number with its noun, whose plural may be given. */
function counted(count, noun, plural = noun + "s") {
    return `${number(count)} ${count === 1 ? noun : plural}`;
}

const clockForm = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const dayForm = new Intl.DateTimeFormat(undefined, { dateStyle: "short", timeStyle: "medium" });
const exactForm = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "long" });

/** A time in the reader's zone, with the day unless that is today. */
function timeText(milliseconds) {
    if (!Number.isFinite(milliseconds)) return "–";
    renewToday();
    const isToday = milliseconds >= today.start && milliseconds < today.end;
    return isToday ? clockForm.format(milliseconds) : dayForm.format(milliseconds);
}

const today = { start: 0, end: 0 };

function renewToday() {
    if (Date.now() >= today.start && Date.now() < today.end) return;
    const start = new Date();
    start.setHours(0, 0, 0, 0);
    const end = new Date(start);
    end.setDate(end.getDate() + 1);
    Object.assign(today, { start: start.getTime(), end: end.getTime() });
}

/** A time as an element; in long lists without the exact form as its title, which takes time to write. */
function timeOf(moment, isPlain) {
    const time = new Date(moment);
    if (Number.isNaN(time.getTime())) return make("span", {}, shown(moment));
    if (isPlain) return make("time", { datetime: time.toISOString() }, timeText(time.getTime()));
    return make("time", { datetime: time.toISOString(), title: exactForm.format(time) }, timeText(time.getTime()));
}

/** A duration such as 1 h 5 min: the two largest units. */
function duration(seconds) {
    const whole = Math.max(0, Math.round(seconds));
    const parts = [["d", Math.floor(whole / 86400)], ["h", Math.floor(whole / 3600) % 24],
        ["min", Math.floor(whole / 60) % 60], ["s", whole % 60]];
    const first = parts.findIndex(part => part[1] > 0);
    if (first < 0) return "0 s";
    return parts.slice(first, first + 2).filter(part => part[1] > 0).map(part => `${part[1]} ${part[0]}`).join(" ");
}

// MARK: Classes

const classes = [
    { letter: "", raw: null, name: "not encrypted", word: "" },
    { letter: "A", raw: "NSFileProtectionComplete", name: "Complete", short: "Complete", word: "complete" },
    { letter: "B", raw: "NSFileProtectionCompleteUnlessOpen", name: "Complete unless open", short: "Unless open",
        word: "complete-unless-open" },
    { letter: "C", raw: "NSFileProtectionCompleteUntilFirstUserAuthentication",
        name: "Complete until first user authentication", short: "Until first unlock", word: "until-first-unlock" },
    { letter: "D", raw: "NSFileProtectionNone", name: "No protection", short: "None", word: "none" },
];

/** The badge of a class: its letter in its colour, with its name for those who hear it. */
function classBadge(number, further) {
    const known = classes[number];
    if (!known || number === 0) return make("span", { class: "badge badge-0", title: "not encrypted" }, "–");
    return make("span", { class: `badge badge-${number}`,
        title: `class ${known.letter}: ${known.name}${further ?? ""}` },
        known.letter);
}

const stateNames = {
    beforeFirstUnlock: "Before first unlock", unlocked: "Unlocked", locking: "Locking", locked: "Locked", off: "Off",
    unknown: "Not reached",
};
