// The device's events and changes of files, followed once for all pages of a browser: it makes but six requests of one
// server at a time, and two of each page would leave none for the third. Runs as a shared worker.
"use strict";

const mostKept = 20000;
// So long parts of an answer are gathered before the pages are told.
const gathering = 40;
// The record as it is comes first; pages take it at once, and not line by line.
const gatheringOfRecord = 250;
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

    /** Begins to gather, where it has not begun. What is gathered until then is given, also if it is nothing. */
    begin(milliseconds) {
        this.timer ??= setTimeout(() => this.end(), milliseconds);
    }

    add(line) {
        this.lines.push(line);
        this.begin(gathering);
    }

    end() {
        clearTimeout(this.timer);
        this.timer = undefined;
        this.give(this.lines.splice(0));
    }
}

/** Follows a stream for as long as there is a page: when it ends, it is asked for again. */
async function keepFollowing(path, take, begun) {
    for (;;) {
        try {
            await follow(path, take, begun);
        } catch (problem) {
            // The pages ask for the status of the device, and say what is wrong.
            if (problem.kind === "signedOut") turnSecret();
        }
        await new Promise(resume => setTimeout(resume, pauseBetweenAnswers));
    }
}

function followEvents() {
    let isRecord = false;
    const gathered = new Gathering(events => {
        const kept = isRecord ? events : [...feed.events, ...events];
        feed.events = kept.length > mostKept * 1.1 ? kept.slice(-mostKept) : kept;
        tellAll({ notice: isRecord ? "record" : "events", events });
        isRecord = false;
    });
    keepFollowing("events/follow", event => gathered.add(event), () => {
        gathered.end();
        isRecord = true;
        gathered.begin(gatheringOfRecord);
    });
}

function followChanges() {
    const gathered = new Gathering(changes => tellAll({ notice: "changes", changes }));
    keepFollowing("changes/follow", change => gathered.add(change), () => {
        feed.isFollowing = true;
        // A listing that begins now finds the changes before.
        tellAll({ notice: "relist" });
    });
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
