// The worker: lists an app's home, keeps its model, and answers the page, so that a large home holds up no frame.
"use strict";

const firstPart = 500;
const furtherPart = 2000;
// A directory that changes all the time is listed again no more often than this.
const changePause = 400;
const noticePause = 120;
const openAtFirst = new Set(["Documents", "Library"]);

const state = { model: null, list: null, app: null, round: 0, waiting: new Map(), timer: null, noticed: null };

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
    if (isNow) {
        state.noticed = null;
        send();
    } else {
        state.noticed = setTimeout(send, noticePause);
    }
}

function complain(problem) {
    tell({ notice: "failed", app: state.app, kind: problem.kind ?? "unexpected", message: problem.message });
}

/** Opens an app's home: first what lies in it at the top, and then all. */
async function open(app) {
    const round = ++state.round;
    state.app = app;
    state.isComplete = false;
    state.waiting.clear();
    const isNew = state.model?.app !== app;
    if (isNew) {
        const { key, isDescending, text } = state.list ?? {};
        state.model = new ContainerModel(app);
        state.list = new RowList(state.model);
        if (key) Object.assign(state.list, { key, isDescending, text });
    }
    try {
        if (isNew || state.model.entries === 0) await showTop(app, round);
        if (round === state.round) await listAll(app, round);
    } catch (problem) {
        if (round === state.round) complain(problem);
    }
}

async function showTop(app, round) {
    const top = await request("files", { app, path: "", recursive: false, limit: furtherPart });
    if (round !== state.round) return;
    state.model.takeDirectory("", top.files);
    for (const file of top.files) {
        const entry = state.model.find(file.path);
        if (openAtFirst.has(file.path)) state.model.columns.flags[entry] |= flag.expanded;
    }
    state.list.invalidate();
    notice(true);
}

async function listAll(app, round) {
    let after = null;
    let limit = firstPart;
    state.model.beginListing();
    do {
        const part = await request("files", { app, path: "", recursive: true, after, limit });
        if (round !== state.round) return;
        state.model.takePart(part.files);
        after = part.next;
        limit = furtherPart;
        notice(false);
    } while (after !== null);
    state.model.endListing();
    state.isComplete = true;
    notice(true);
    if (state.waiting.size > 0) soon();
}

// MARK: Changes

/** Whether a change that is told with one app's identifier is one of this app's home too. */
function isOwn(app, path) {
    if (app === null || app === state.app) return true;
    // What apps share is told with the identifier of any of them.
    const [place, container] = (path ?? "").split("/");
    return ["Groups", "iCloud"].includes(place) && state.model.directories.has(`${place}/${container}`);
}

function change(app, path) {
    if (!state.model || !isOwn(app, path)) return;
    if (path === null || app === null) {
        state.waiting.clear();
        state.waiting.set(null, true);
    } else if (!state.waiting.has(null)) {
        state.waiting.set(path, true);
    }
    if (state.isComplete) soon();
}

function soon() {
    state.timer ??= setTimeout(() => {
        state.timer = null;
        catchUp().catch(complain);
    }, changePause);
}

async function catchUp() {
    const round = state.round;
    const paths = [...state.waiting.keys()];
    state.waiting.clear();
    if (paths.includes(null)) {
        await listAll(state.app, round);
        tell({ notice: "touched", app: state.app, paths: [null] });
        return;
    }
    const directories = new Set();
    for (const path of paths) {
        if (state.model.directories.has(path)) directories.add(path);
        directories.add(path.includes("/") ? path.slice(0, path.lastIndexOf("/")) : "");
    }
    for (const directory of directories) await listDirectory(directory, round);
    if (round !== state.round) return;
    notice(true);
    tell({ notice: "touched", app: state.app, paths: paths.slice(0, 200) });
}

/** Lists a directory again, and what is new in it to the ground. */
async function listDirectory(path, round, isNew) {
    const files = [];
    let after = null;
    try {
        do {
            const part = await request("files", { app: state.app, path, recursive: false, after, limit: furtherPart });
            if (round !== state.round) return;
            for (const file of part.files) files.push(file);
            after = part.next;
        } while (after !== null);
    } catch (problem) {
        // It is gone meanwhile: its own directory tells that.
        if (problem.kind === "notFound" || problem.kind === "badRequest") return;
        throw problem;
    }
    const fresh = state.model.takeDirectory(path, files);
    for (const directory of fresh) await listDirectory(directory, round, true);
    if (!isNew) notice(false);
}

// MARK: Questions

onmessage = ({ data }) => {
    if (data.order === "begin") {
        secret = data.secret;
        return;
    }
    if (data.order === "open") {
        open(data.app);
        return;
    }
    if (data.order === "change") {
        change(data.app, data.path);
        return;
    }
    let answer = null;
    if (state.model && answers[data.question]) answer = answers[data.question](state, data.about ?? {});
    const handed = answer?.boxes
        ? [answer.boxes.buffer, answer.entries.buffer, answer.kinds.buffer, answer.levels.buffer, answer.classes.buffer,
            answer.flags.buffer, answer.sizes.buffer] : [];
    postMessage({ number: data.number, app: state.app, answer }, handed);
};
