// The worker: lists an app's home, keeps its model, and answers the page, so that a large home holds up no frame.
"use strict";

const firstPart = 500;
const furtherPart = 5000;
// A home that changes all the time is listed again no more often than this, and rests twice as long as that took.
const changePause = 400;
const failurePause = 5000;
const noticePause = 120;
// With more changed paths than this, all is listed.
const mostWaiting = 1000;
const openAtFirst = new Set(["Documents", "Library"]);

const state = {
    model: null, list: null, app: null, isComplete: false,
    /** Whether all is to be listed; else the paths that have changed. */
    isStale: false, waiting: new Set(),
    /** Counts the homes that were opened: work for an earlier one ends. */
    round: 0,
    isBusy: false, wake: null, noticed: null,
};

/** The end of work for a home that is no longer the chosen one. */
class Superseded extends Error {}

function tell(message) {
    postMessage(message);
}

/** Tells the page that the model has changed, some times a second at most. */
function notice(isNow) {
    if (state.noticed && !isNow) return;
    clearTimeout(state.noticed);
    const send = () => {
        state.noticed = null;
        const { model } = state;
        if (model) tell({ notice: "changed", app: state.app, entries: model.entries, isComplete: state.isComplete });
    };
    if (isNow) send();
    else state.noticed = setTimeout(send, noticePause);
}

function complain(problem) {
    const { kind = "unexpected", status, message } = problem;
    tell({ notice: "failed", app: state.app, kind, status, message });
}

// MARK: Work

/** Opens an app's home, or looks at all of it again; with null there is none. */
function open(app) {
    state.waiting.clear();
    state.isStale = app !== null;
    state.isComplete = false;
    if (app === null) {
        state.round += 1;
        Object.assign(state, { app, model: null, list: null });
    } else if (state.model?.app !== app) {
        state.round += 1;
        state.app = app;
        const { key, isDescending, text } = state.list ?? {};
        state.model = new ContainerModel(app);
        state.list = new RowList(state.model);
        if (key) Object.assign(state.list, { key, isDescending, text });
    }
    state.wake?.();
    tend();
}

/** Does what there is to do, one after the other: two listings at a time would each sweep away what the other found. */
async function tend() {
    if (state.isBusy) return;
    state.isBusy = true;
    while (state.isStale || state.waiting.size > 0) {
        const began = performance.now();
        const { round } = state;
        let pause = changePause;
        try {
            if (state.isStale) await listAll();
            else await catchUp();
            pause = Math.max(pause, 2 * (performance.now() - began));
        } catch (problem) {
            if (problem instanceof Superseded || round !== state.round) continue;
            complain(problem);
            state.isStale = true;
            pause = failurePause;
        }
        await new Promise(resume => {
            state.wake = resume;
            setTimeout(resume, pause);
        });
        state.wake = null;
    }
    state.isBusy = false;
}

/** Lists a directory. Returns the paths of those in it that are new. */
async function listDirectory(path, isDeep, first = furtherPart) {
    const { app, round, model } = state;
    const listing = new Listing(model, path, isDeep);
    let after = null;
    let limit = first;
    do {
        const part = await request("files", { app, ...pathMembers(path), recursive: isDeep, after, limit });
        if (round !== state.round) throw new Superseded();
        listing.take(part.files);
        after = part.next;
        limit = furtherPart;
        notice(false);
    } while (after !== null);
    listing.end();
    return listing.fresh;
}

async function listAll() {
    state.isStale = false;
    if (state.model.entries === 0) await showTop();
    await listDirectory("", true, firstPart);
    if (!state.isStale) state.isComplete = true;
    notice(true);
    tell({ notice: "touched", app: state.app, paths: [null] });
}

/** First what lies at the top, so that there is something to be seen. */
async function showTop() {
    await listDirectory("", false);
    for (const path of openAtFirst) {
        const entry = state.model.directories.get(path);
        if (entry !== undefined) state.model.columns.flags[entry] |= flag.expanded;
    }
    state.list.invalidate();
    notice(true);
}

// MARK: Changes

/** Whether a change that is told with one app's identifier is one of this app's home too. */
function isOwn(app, path) {
    if (app === null || app === state.app) return true;
    // What apps share is told with the identifier of any of them.
    const [place, container] = (path ?? "").split("/");
    return ["Groups", "iCloud"].includes(place) && state.model.directories.has(`${place}/${container}`);
}

function change(told) {
    const { app } = told;
    const path = pathOfReply(told);
    if (!state.model || state.isStale || !isOwn(app, path)) return;
    state.waiting.add(path);
    if (path === null || app === null || state.waiting.size > mostWaiting) {
        state.waiting.clear();
        state.isStale = true;
    }
}

function parentOf(path) {
    return path.includes("/") ? path.slice(0, path.lastIndexOf("/")) : "";
}

/** Lists the directories in which something has changed, and those that are new in them with all that they have. */
async function catchUp() {
    const paths = [...state.waiting];
    state.waiting.clear();
    const changed = new Set(paths.map(parentOf));
    for (const path of paths) if (state.model.directories.has(path)) changed.add(path);
    for (const path of changed) {
        for (const fresh of await listAgain(path, false)) {
            await listAgain(fresh, true);
            // Its own changes came before.
            changed.delete(fresh);
        }
    }
    notice(true);
    tell({ notice: "touched", app: state.app, paths: paths.length > 200 ? [null] : paths });
}

async function listAgain(path, isDeep) {
    if (!state.model.directories.has(path)) return [];
    try {
        return await listDirectory(path, isDeep);
    } catch (problem) {
        if (path === "" || !["notFound", "badRequest"].includes(problem.kind)) throw problem;
        // It is gone meanwhile, or no directory any more: its own directory tells.
        return listAgain(parentOf(path), false);
    }
}

// MARK: Questions

function answer({ number, question, about }) {
    let found = null;
    try {
        if (state.model) found = answers[question](state, about ?? {});
    } catch (problem) {
        complain(problem);
    }
    const handed = found?.boxes ? [found.boxes.buffer, found.entries.buffer, found.kinds.buffer, found.levels.buffer,
        found.classes.buffer, found.flags.buffer, found.sizes.buffer] : [];
    postMessage({ number, app: state.app, answer: found }, handed);
}

onmessage = ({ data }) => {
    if (data.order === "begin") secret = data.secret;
    else if (data.order === "open") open(data.app);
    else if (data.order === "change") {
        for (const one of data.changes) change(one);
        tend();
    } else answer(data);
};
