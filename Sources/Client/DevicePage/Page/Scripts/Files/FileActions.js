// The actions on apps and on files: suspend, resume, terminate, report, deliver, exclude, include, protect.
"use strict";

// A part of a file that is delivered: the server takes larger ones in no request.
const deliveryPart = 4 << 20;

function appActions(app) {
    const { identifier } = app;
    const isSuspended = app.running && app.state === "suspended";
    return [
        app.running && !isSuspended ? actionButton({
            text: "Suspend", name: "Suspend " + identifier, command: () => commands.suspend(identifier),
            run: () => suspend(identifier) }) : null,
        isSuspended ? actionButton({
            text: "Resume", name: "Resume " + identifier, command: () => commands.resume(identifier), run: async () => {
                await request("resume", { app: identifier });
                return "The app goes on.";
            } }) : null,
        app.running ? actionButton({
            text: "Terminate…", name: "Terminate " + identifier, command: () => commands.terminate(identifier, false),
            run: () => terminate(identifier) }) : null,
        // An extension has no Inbox.
        page.ownerOf(app) ? null : actionButton({
            text: "Deliver…", name: "Deliver " + identifier, command: () => commands.deliver(identifier, ["FILE"]),
            describe: "Or drop files on the list of files", run: () => chooseFiles(identifier) }),
        actionButton({
            text: "Report", name: "Report " + identifier, command: () => commands.report(identifier),
            run: () => takeReport(identifier) }),
    ];
}

async function suspend(app) {
    const report = await request("suspend", { app });
    const killed = report.terminated.map(lock => shown(`${lock.process ?? "a process"} for its lock on ${lock.path}`));
    const tasks = report.unendedTasks.map(shown);
    return `The app is suspended: ${counted(report.processes, "process", "processes")} frozen.`
        + (killed.length > 0 ? ` Killed: ${killed.join(", ")}.` : "")
        + (tasks.length > 0 ? ` Background tasks that had not ended: ${tasks.join(", ")}.` : "");
}

function terminate(app) {
    const memory = make("input", { type: "checkbox" });
    new ActionDialog({
        title: "Terminate the app?", isDanger: true, confirm: "Terminate",
        command: () => commands.terminate(app, memory.checked),
        content: [make("p", {},
            "Its processes get SIGTERM, and SIGKILL where they are still there five seconds later."),
            check("Kill them at once, as a phone does when memory is short", memory)],
        run: async () => {
            await request("terminate", { app, memory: memory.checked });
            return "The app has ended.";
        },
    }).open();
}

/** Has the server make the report, and hands it to the browser as a file. */
async function takeReport(app) {
    const response = await send("/report?app=" + encodeURIComponent(app));
    const address = URL.createObjectURL(await response.blob());
    const link = document.body.appendChild(make("a", { href: address, download: app + ".html" }));
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(address), 60000);
    return `The report is ${shown(app)}.html, where the browser keeps what it downloads.`;
}

// MARK: Delivery

function chooseFiles(app) {
    const input = make("input", { type: "file", multiple: true });
    const files = () => [...input.files];
    new ActionDialog({
        title: "Deliver files to the Inbox", confirm: "Deliver",
        command: () => commands.deliver(app, files().length > 0 ? files().map(file => file.name) : ["FILE"]),
        content: [field("Files", input, "They arrive in Documents/Inbox, as from another app or Mail.")],
        changed: dialog => dialog.confirm.disabled = files().length === 0,
        run: (signal, progress) => deliver(app, files(), progress, signal),
    }).open();
}

async function deliver(app, files, progress, signal) {
    const places = [];
    for (const file of files) places.push(...await deliverOne(app, file, progress, signal));
    return places.length === 1 ? `Delivered: ${shown(places[0])}`
        : `${counted(places.length, "file")} delivered to Documents/Inbox.`;
}

async function readPart(file, offset) {
    try {
        return await file.slice(offset, offset + deliveryPart).arrayBuffer();
    } catch {
        throw new Refusal("unreadable", `${file.name} cannot be read: it is a folder, or has changed since.`);
    }
}

/** Sends a file part by part; the answer to the last one has its place in the home. */
async function deliverOne(app, file, progress, signal) {
    const upload = crypto.randomUUID?.() ?? String(Math.random()).slice(2);
    let offset = 0;
    for (;;) {
        const part = await readPart(file, offset);
        const isLast = offset + part.byteLength >= file.size;
        const query = new URLSearchParams({ app, name: file.name, upload, offset: String(offset),
            ...(isLast ? { last: "1" } : {}) });
        const response = await send("/deliver?" + query, {
            method: "POST", body: part, signal, headers: { "Content-Type": "application/octet-stream" } });
        offset += part.byteLength;
        progress?.({ activity: file.name, unit: "bytes", done: offset, total: file.size });
        if (!isLast) continue;
        const places = await response.json();
        return Array.isArray(places) ? places : places.result ?? [];
    }
}

/** Takes files that are dropped on the place of the files. */
function acceptDrops(place) {
    const hasFiles = event => [...event.dataTransfer?.types ?? []].includes("Files");
    // A file that misses the place would be opened instead of the page.
    for (const kind of ["dragover", "drop"]) {
        addEventListener(kind, event => hasFiles(event) && !event.defaultPrevented
            && !event.target.closest?.("input[type=file]") && event.preventDefault());
    }
    if (page.readOnly) return;
    const over = event => {
        if (!hasFiles(event) || !canDeliver()) return;
        event.preventDefault();
        event.dataTransfer.dropEffect = "copy";
        place.classList.add("dropping");
    };
    place.addEventListener("dragenter", over);
    place.addEventListener("dragover", over);
    place.addEventListener("dragleave", event => {
        if (!place.contains(event.relatedTarget)) place.classList.remove("dropping");
    });
    place.addEventListener("drop", event => {
        place.classList.remove("dropping");
        const files = [...event.dataTransfer.files];
        if (files.length === 0 || !canDeliver()) return;
        event.preventDefault();
        deliverDropped(page.app, files);
    });
}

/** Whether the chosen one is an app: an extension has no Inbox. */
function canDeliver() {
    const app = page.findApp(page.app);
    return app !== undefined && page.problem === null && !page.ownerOf(app);
}

function deliverDropped(app, files) {
    const tell = ({ activity, done, total }) => page.bar.tell(
        done < total ? `Deliver ${shown(activity)}: ${bytes(done)} of ${bytes(total)} …` : "Deliver …");
    return carryOut("Deliver", () => commands.deliver(app, files.map(file => file.name)),
        () => deliver(app, files, tell));
}

// MARK: Files

/** Places that are never in a backup, whatever mark they have. */
const neverBackedUp = /^(tmp|iCloud|Library\/Caches|Groups\/[^/]+\/Library\/Caches)$/;

/** The home of the app that is chosen, for command lines. */
function home() {
    const app = page.findApp(page.app);
    return { identifier: page.app, mountPoint: app?.mountPoint ?? null };
}

function fileActions(facts) {
    const { path } = facts;
    const of = { app: page.app, ...pathMembers(path) };
    const isKept = ["symbolicLink", "fifo", "socket", "device"].includes(facts.kind);
    const app = page.findApp(page.app);
    const bundle = (page.ownerOf(app) ?? app)?.bundle;
    if (path === "" || isKept) return null;
    if (bundle && (path === bundle || path.startsWith(bundle + "/"))) {
        return section("Change", make("p", { class: "quiet" }, "The bundle is signed: nothing in it changes."));
    }
    const mark = neverBackedUp.test(path) ? null : facts.isMarked ? actionButton({
        text: "Include", command: () => commands.include(home(), path), run: async () => {
            await request("include", of);
            return `${shown(path)} is included in backups again.`;
        } }) : actionButton({
        text: "Exclude", command: () => commands.exclude(home(), path), run: async () => {
            await request("exclude", of);
            return `${shown(path)} is left out of backups.`;
        } });
    if (mark) mark.dataset.path = path;
    const protect = actionButton({
        text: "Protect…", command: () => commands.protect(home(), path, classes[facts.protection || 3].word, false),
        run: () => protectFile(facts) });
    protect.dataset.path = path;
    return section("Change", make("div", { class: "tools", role: "group", "aria-label": "Actions on the file" }, mark,
        protect));
}

function protectFile(facts) {
    const { path } = facts;
    const { app } = page;
    const choices = classes.slice(1).map(known => make("label", { class: "choice" },
        make("input", { type: "radio", name: "class", value: known.letter,
            checked: classes[facts.protection].letter === known.letter }),
        classBadge(classes.indexOf(known)), make("span", {}, known.name)));
    const recursive = make("input", { type: "checkbox" });
    const legend = facts.isDirectory ? "The class that it gives to what is created in it" : "Class";
    const list = make("fieldset", {}, make("legend", {}, legend), choices);
    const chosen = () => classes.find(known => known.letter === list.querySelector("input:checked")?.value)
        ?? classes[3];
    const dialog = new ActionDialog({
        title: "Protect", confirm: "Protect", command: () => commands.protect(
            home(), path, chosen().word, recursive.checked),
        content: [pathLine(path), list, facts.isDirectory ? check("Also all that lies in it", recursive) : null,
            make("p", { class: "hint" }, "Content stays as it is; only the file’s key is wrapped anew.")],
        run: async () => {
            await request("protect", { app, ...pathMembers(path), protection: chosen().raw,
                recursive: recursive.checked });
            return `${shown(path)} has class ${chosen().letter}: ${chosen().name}.`;
        },
    });
    dialog.open();
    list.querySelector("input:checked")?.focus();
}
