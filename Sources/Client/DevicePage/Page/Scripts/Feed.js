// The device's events and changes of files, followed once for all pages of a browser: it makes but six requests of one
// server at a time, and two of each page would leave none for the third. Runs as a shared worker.
"use strict";

const mostKept = 20000;
// So long parts of an answer are gathered before the pages are told.
const gathering = 40;
// The record as it is comes first; pages take it at once, and not line by line.
const gatheringOfRecord = 250;
// So long a device that is there again is waited for until it has told the last event that is known.
const patienceWithRecord = 2000;
const pauseBetweenAnswers = 1500;

// Of each page its secret: one that was loaded again may have that of a command that has ended.
const feed = { pages: new Map(), events: [], isFollowing: false, hasBegun: false };

function tellAll(message) {
    for (const page of feed.pages.keys()) page.postMessage(message);
}

/** Takes the secret of another page. */
function turnSecret() {
    const secrets = [...new Set(feed.pages.values())];
    secret = secrets[(secrets.indexOf(secret) + 1) % secrets.length] ?? secret;
}

/** Gathers lines for some milliseconds, and then gives them to a function at once. */
class Gathering {
    constructor(give) {
        this.give = give;
        this.lines = [];
    }

    /** Begins to gather, where it has not begun. All that is gathered until then is given, also if it is nothing. */
    begin(milliseconds) {
        this.timer ??= setTimeout(() => this.end(), milliseconds);
    }

    add(line) {
        this.lines.push(line);
        this.begin(gathering);
    }

    end() {
        this.give(this.stop());
    }

    /** Gathers so long from now on. */
    hasten(milliseconds) {
        clearTimeout(this.timer);
        this.timer = undefined;
        this.begin(milliseconds);
    }

    /** Gathers no longer. Returns the lines, which are not given. */
    stop() {
        clearTimeout(this.timer);
        this.timer = undefined;
        return this.lines.splice(0);
    }
}

/** Follows a stream for as long as there is a page: when it ends, it is asked for again. */
async function keepFollowing(path, take, begun, ended) {
    for (;;) {
        try {
            await follow(path, take, begun);
        } catch (problem) {
            // The pages ask for the status of the device, and say what is wrong.
            if (problem.kind === "signedOut") turnSecret();
        }
        ended();
        await new Promise(resume => setTimeout(resume, pauseBetweenAnswers));
    }
}

function isSameEvent(one, other) {
    return ["time", "event", "app", "path", "pid", "operation", "rule"].every(key => one[key] === other[key]);
}

/** The events of a record after those that are known, or null where it is another record. Either may begin later. */
function continuation(known, record) {
    if (known.length === 0) return null;
    const end = record.findLastIndex(event => isSameEvent(event, known.at(-1))) + 1;
    const both = Math.min(end, known.length);
    const from = known.length - both;
    for (let place = 0; place < both; place += 1) {
        if (!isSameEvent(known[from + place], record[end - both + place])) return null;
    }
    return both > 0 ? record.slice(end) : null;
}

/** Follows the events. An answer has the record first, whose end nothing marks. */
function followEvents() {
    let isRecord = false;
    const gathered = new Gathering(lines => {
        const later = isRecord ? continuation(feed.events, lines) : null;
        const isAnother = isRecord && later === null;
        const events = later ?? lines;
        const kept = isAnother ? events : [...feed.events, ...events];
        feed.events = kept.length > mostKept * 1.1 ? kept.slice(-mostKept) : kept;
        isRecord = false;
        tellAll({ notice: isAnother ? "record" : "events", events });
    });
    const take = event => {
        const last = isRecord ? feed.events.at(-1) : undefined;
        if (last) gathered.begin(patienceWithRecord);
        gathered.add(event);
        if (last && isSameEvent(event, last)) gathered.hasten(gathering);
    };
    const begun = () => {
        isRecord = true;
        if (feed.events.length === 0) gathered.begin(gatheringOfRecord);
    };
    keepFollowing("events/follow", take, begun, () => {
        // A record that has not come whole tells nothing: it comes again.
        if (isRecord) gathered.stop();
        else gathered.end();
        isRecord = false;
    });
}

function followChanges() {
    const gathered = new Gathering(changes => tellAll({ notice: "changes", changes }));
    keepFollowing("changes/follow", change => gathered.add(change), () => {
        feed.isFollowing = true;
        // A listing that begins now finds the changes before.
        tellAll({ notice: "relist" });
    }, () => gathered.end());
}

/** Takes a page in: it gets the record, and what comes. */
function admit(page, about) {
    feed.pages.set(page, about.secret);
    if (!feed.hasBegun) secret = about.secret;
    // A page has a lock of its own for as long as it is there.
    if (about.lock) navigator.locks.request(about.lock, () => feed.pages.delete(page));
    page.postMessage({ notice: "record", events: feed.events });
    if (feed.isFollowing) page.postMessage({ notice: "relist" });
    if (feed.hasBegun) return;
    feed.hasBegun = true;
    followEvents();
    followChanges();
}

function listenTo(page) {
    page.onmessage = ({ data }) => admit(page, data);
}

if (typeof SharedWorkerGlobalScope === "undefined") listenTo(self);
else self.onconnect = ({ ports: [page] }) => listenTo(page);
