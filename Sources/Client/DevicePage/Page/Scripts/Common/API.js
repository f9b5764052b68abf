// Requests to the device by its control API, and answers that come line by line. The worker has this file too.
"use strict";

/**
 * A request that was not granted. Its kind is `ended` where nobody answers, `slow` where nobody has answered in time,
 * `cancelled`, `signedOut`, and else as the control API names it.
 */
class Refusal extends Error {
    constructor(kind, message, status) {
        super(message);
        this.kind = kind;
        this.status = status;
    }
}

const endedSentence = "The command that serves this page has ended.";

async function refusalOf(response) {
    let complaint;
    try {
        const failure = await response.json();
        complaint = failure.complaint ?? failure;
    } catch {
        complaint = {};
    }
    const kind = response.status === 401 ? "signedOut" : complaint.kind ?? "unexpected";
    return new Refusal(kind, complaint.message ?? `the answer was ${response.status}`, response.status);
}

/** Besides the cookie, which browsers send to other ports of this machine too. Without it no request is let in. */
let secret = null;

/**
 * The facts that the page begins with. The link's own load has them with the secret, and keeps them for reloads in this
 * tab: a reload has neither.
 */
function takeStart(text) {
    let start = JSON.parse(text);
    if (start.mode !== "live") return start;
    try {
        if (start.secret) sessionStorage.setItem("start", text);
        else start = JSON.parse(sessionStorage.getItem("start")) ?? start;
    } catch {
        // The browser keeps nothing for a page: then a reload needs a new link.
    }
    secret = start.secret ?? null;
    return start;
}

/** The refusal for a request that failed on its way. */
function failureOf(problem, signal) {
    if (problem.name === "TimeoutError") return new Refusal("slow", "The device has not answered for some seconds.");
    if (problem.name === "AbortError" || signal?.aborted) return new Refusal("cancelled", "it was cancelled");
    return new Refusal("ended", endedSentence);
}

async function send(path, options) {
    let response;
    const headers = { ...options?.headers, "X-Page-Secret": secret ?? "" };
    try {
        response = await fetch(path, { credentials: "same-origin", cache: "no-store", ...options, headers });
    } catch (problem) {
        throw failureOf(problem, options?.signal);
    }
    if (!response.ok) throw await refusalOf(response);
    return response;
}

function posted(body) {
    return body === undefined ? {}
        : { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
}

/** The answer to one request: a query without a body, or a call with one. */
async function request(path, body, signal) {
    const response = await send("/v1/" + path, { ...posted(body), signal });
    try {
        return await response.json();
    } catch (problem) {
        throw failureOf(problem, signal);
    }
}

// So that a record of thousands of events never holds up a frame.
const linesAtOnce = 200;

/** Lets other work go first. Unlike a timer it is not held up in a page that is not looked at. */
function pause() {
    return new Promise(resume => {
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = () => {
            port1.close();
            resume();
        };
        port2.postMessage(null);
    });
}

/** Reads JSON line by line until the answer ends. */
async function readLines(response, take) {
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    let count = 0;
    for (;;) {
        let part;
        try {
            part = await reader.read();
        } catch {
            return;
        }
        if (part.done) return;
        const lines = (rest + part.value).split("\n");
        rest = lines.pop();
        for (const line of lines) {
            if (line === "") continue;
            take(JSON.parse(line));
            count += 1;
            if (count % linesAtOnce === 0) await pause();
        }
    }
}

/** Follows what the device tells until the answer ends. */
async function follow(path, take, begun) {
    const response = await send("/v1/" + path, { headers: { Accept: "application/x-ndjson" } });
    begun?.();
    await readLines(response, take);
}

/** Long work, whose progress is told meanwhile. Returns the result. */
async function work(path, body, progress, signal) {
    const options = posted(body);
    options.headers.Accept = "application/x-ndjson";
    const response = await send("/v1/" + path, { ...options, signal });
    let last;
    await readLines(response, line => {
        if (line.progress) progress(line.progress);
        else last = line;
    });
    if (last?.complaint) throw new Refusal(last.complaint.kind, last.complaint.message, response.status);
    if (signal?.aborted) throw new Refusal("cancelled", "it was cancelled");
    if (!last) throw new Refusal("ended", endedSentence);
    return last.result;
}

// MARK: Paths

const strictText = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const textBytes = new TextEncoder();

/**
 * The path that the control API tells. Where it has bytes that are no text, they are surrogates without a partner, from
 * U+DC80 to U+DCFF: so two names that differ stay two.
 */
function pathOfReply({ path, pathBytes }) {
    if (!pathBytes) return path;
    const bytes = Uint8Array.from(atob(pathBytes), one => one.charCodeAt(0));
    let text = "";
    for (let at = 0; at < bytes.length;) {
        const length = bytes[at] < 0x80 ? 1 : bytes[at] < 0xe0 ? 2 : bytes[at] < 0xf0 ? 3 : 4;
        try {
            text += strictText.decode(bytes.subarray(at, at + length));
            at += length;
        } catch {
            text += String.fromCharCode(0xdc00 + bytes[at]);
            at += 1;
        }
    }
    return text;
}

/** The bytes of a text in which single bytes may stand as surrogates. */
function bytesOf(text) {
    return [...text].flatMap(one => {
        const code = one.codePointAt(0);
        return code >= 0xdc80 && code <= 0xdcff ? [code - 0xdc00] : [...textBytes.encode(one)];
    });
}

/** The members of a request that name a path. */
function pathMembers(path) {
    if (path.isWellFormed()) return { path };
    return { path: path.toWellFormed(), pathBytes: btoa(String.fromCharCode(...bytesOf(path))) };
}

// MARK: Reach

const kindsOutOfReach = new Set(["ended", "slow", "signedOut", "daemonUnreachable", "daemonEnded", "shuttingDown",
    "deviceMissing", "notADevice", "otherDevice"]);

/** Whether it was the way to the device that failed, and not the request. */
function isOutOfReach(problem) {
    return problem.status === 503 || kindsOutOfReach.has(problem.kind);
}
