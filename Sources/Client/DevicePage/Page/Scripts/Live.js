// The page of a device that is watched: begins it, follows what happens, and asks again and again.
"use strict";

const appEvents = new Set(["installed", "mounted", "unmounted", "entered", "suspended", "resumed", "terminated",
    "restarted"]);
// A listing that begins once changes are followed finds all; without that the files are shown all the same.
const patienceWithFeed = 500;

/** Calls at once, and again when calls that came meanwhile are over: at most once in so many milliseconds. */
function calm(milliseconds, call) {
    let timer;
    let isWanted = false;
    const run = () => {
        isWanted = false;
        timer = setTimeout(() => {
            timer = undefined;
            if (isWanted) run();
        }, milliseconds);
        call();
    };
    return () => {
        if (timer === undefined) run();
        else isWanted = true;
    };
}

function heedEvents() {
    const apps = calm(300, () => page.refreshApps());
    const state = calm(200, () => page.poll());
    page.record.listeners.push(events => {
        const names = new Set(events?.map(event => event.event));
        if ([...names].some(name => appEvents.has(name))) apps();
        if ([...names].some(name => eventTones[name] === "state" || name === "purged")) state();
    });
}

function heedFiles() {
    const sums = calm(1000, () => page.showSums());
    const map = calm(250, () => page.map.schedule());
    page.files.listen(notice => {
        if (notice.notice === "failed") {
            // The page says already where the device is out of reach.
            if (isOutOfReach(notice)) return;
            setText(byID("files-problem"), sentence(notice.message));
            byID("files-problem").hidden = false;
        } else if (notice.notice === "touched") {
            heedTouched(notice.paths);
        } else {
            byID("files-problem").hidden = true;
            page.isComplete = notice.isComplete;
            page.tree.view.schedule();
            sums();
            map();
            page.seek();
        }
    });
}

/** Shows the chosen file as it is now, where it or a directory above it has changed. */
function heedTouched(paths) {
    const path = page.chosenPath;
    if (path === null) return;
    // With a directory all may have gone that lies in it.
    const isMeant = one => one === null || one === "" || path === one || path.startsWith(one + "/");
    if (paths.some(isMeant)) page.panel.showFile(path);
}

/** Follows events and changes by way of a worker that all pages of this browser share. Returns when it has begun. */
function followFeed() {
    const isShared = "SharedWorker" in window;
    const worker = isShared ? new SharedWorker("/feed.js", { name: `${page.version} ${page.identifier}` })
        : new Worker("/feed.js");
    const port = isShared ? worker.port : worker;
    const begin = lock => port.postMessage({ secret, lock });
    const lock = isShared && navigator.locks ? crypto.randomUUID() : null;
    // The lock goes with this page: so the worker knows when it has gone.
    const hold = () => {
        begin(lock);
        return new Promise(() => {});
    };
    if (lock) navigator.locks.request(lock, hold);
    else begin(null);
    worker.onerror = () => page.bar.tell("What happens on the device cannot be followed: load the page anew.", true);
    return new Promise(begun => {
        port.onmessage = ({ data }) => {
            if (data.notice === "record") page.record.renew(data.events);
            else if (data.notice === "events") page.record.hear(data.events);
            else if (data.notice === "changes") page.files.change(data.changes);
            else if (page.app !== null) page.files.open(page.app);
            if (data.notice === "relist") begun();
        };
        setTimeout(begun, patienceWithFeed);
    });
}

async function keepPolling() {
    for (let turn = 0; ; turn += 1) {
        if (!document.hidden || turn % 5 === 0) {
            await page.poll();
            if (page.problem === null && turn % 2 === 0) await pollActivity();
            if (page.problem === null && turn % 6 === 5) await page.refreshFacts();
            if (page.problem === null && turn % 10 === 9) await page.refreshApps();
        }
        await new Promise(resume => setTimeout(resume, 1000));
    }
}

async function pollActivity() {
    try {
        const { requests } = await request("activity", undefined, patience());
        page.deviceView.showActivity(requests);
    } catch {
        // The next status says so, if the device is gone.
    }
}

function showView(view) {
    byID("files").dataset.view = view;
    for (const button of document.querySelectorAll("[data-show]")) {
        button.setAttribute("aria-pressed", String(button.dataset.show === view));
    }
    if (view === "guidelines") page.guidelines.show();
    // What was chosen elsewhere meanwhile could not be scrolled to.
    if (view === "tree" && page.tree.view.active >= 0) page.tree.view.reveal(page.tree.view.active);
}

/** Keys that work wherever the focus is on a control or a list, and not in a field. */
function heedKeys() {
    document.addEventListener("keydown", event => {
        if (event.altKey || event.ctrlKey || event.metaKey) return;
        // A key that is held down is meant once.
        if (event.repeat && event.key === "Enter" && event.target.closest("button")) event.preventDefault();
        if (event.target.closest("input, select, textarea, dialog")) return;
        if (event.key === "/") byID("filter").focus();
        else if (event.key === "c" && event.target !== document.body) page.bar.copy();
        else return;
        event.preventDefault();
    });
}

async function beginLive() {
    // The token of the link was used, and does not stay in the address.
    history.replaceState(null, "", location.pathname + location.hash);
    for (const part of document.querySelectorAll("[data-mode=report]")) part.remove();
    for (const part of document.querySelectorAll("[data-mode=live]")) part.hidden = false;
    document.body.classList.add("live");
    Object.assign(page, {
        bar: new CommandBar(), files: new WorkerFiles(), record: new EventRecord(), panel: new Panel(),
        appList: new AppList(), guidelines: new Guidelines(), deviceView: new DeviceView(), tree: new Tree(),
        map: new Treemap(),
    });
    page.list = new EventList(page.record);
    page.timeLine = new TimeLine(page.record);
    byID("read-only").hidden = !page.readOnly;
    for (const button of document.querySelectorAll("[data-show]")) {
        button.addEventListener("click", () => showView(button.dataset.show));
    }
    heedKeys();
    acceptDrops(byID("files"));
    heedEvents();
    heedFiles();
    showLegend(byID("legend"), null);
    await followFeed();
    keepPolling();
}

/** All that a page shows that no link has opened in this tab. */
function askForLink() {
    document.body.replaceChildren(make("p", { class: "sentence", role: "alert" },
        "Open a link that the command has printed: press Enter there for a new one, or run it again."));
}

Object.assign(page, takeStart(byID("data").textContent));
if (page.mode === "report") new Report(page).show();
else if (secret === null) askForLink();
else beginLive();
