// The page as a whole: begins it, keeps the way to the device, and tells its parts what was chosen and has changed.
"use strict";

const statusPatience = 15000;

const page = {
    app: null, chosenPath: null, chosenEvent: null, status: null, apps: [], rules: new Map(), problem: null,

    isReadable(number) {
        const readable = this.readable ?? (this.status ? new Set(this.status.readable) : null);
        return !readable || readable.has(classes[number].raw);
    },

    /** An app or extension by its identifier. */
    findApp(identifier) {
        for (const app of this.apps) {
            if (app.identifier === identifier) return app;
            const found = app.extensions.find(one => one.identifier === identifier);
            if (found) return found;
        }
        return undefined;
    },

    ownerOf(app) {
        return this.apps.find(one => one.extensions.includes(app));
    },

    homeName() {
        return this.findApp(this.app)?.name ?? this.app ?? "";
    },

    // MARK: Choices

    /** Shows the page of a file, or with null that of the app. With `isToBeShown` the tree opens at it. */
    choose(path, isToBeShown) {
        // What has the focus goes with the panel's content.
        const isLeft = (this.chosenPath ?? this.chosenEvent) !== null
            && byID("panel").contains(document.activeElement);
        this.chosenPath = path;
        this.chosenEvent = null;
        this.map?.draw();
        if (this.mode === "report") return;
        byID("panel").scrollTop = 0;
        if (path === null) {
            const chosen = this.findApp(this.app);
            this.panel.showApp(chosen, this.ownerOf(chosen));
            if (isLeft) byID("tree").focus();
        } else {
            this.panel.showFile(path).then(() => this.panel.reveal());
            this.bar.show(commands.inspect(home(), path));
        }
        if (isToBeShown && path !== null) this.tree.reveal(path);
        this.tree.view.update();
        this.list.view.update();
    },

    chooseEvent(event) {
        this.chosenPath = null;
        this.chosenEvent = event;
        this.panel.showEvent(event);
        this.panel.reveal();
        this.bar.show(event.event === "refused" ? commands.explain() : "");
        this.tree.view.update();
        this.list.view.update();
        this.map.draw();
    },

    /** Shows a file of any app, also one whose files are still being listed. */
    goTo(app, path) {
        this.openApp(app);
        this.wanted = path;
        this.seek();
    },

    async seek() {
        const path = this.wanted;
        if (path === undefined || !await this.tree.reveal(path)) return;
        this.wanted = undefined;
        this.choose(path);
    },

    openApp(identifier) {
        if (identifier === this.app) return;
        this.app = identifier;
        this.isComplete = false;
        this.wanted = undefined;
        // The token of the link was used, and does not stay in the address.
        history.replaceState(null, "", location.pathname + "#" + encodeURIComponent(identifier));
        this.files.open(identifier);
        this.map.enter("");
        byID("tree").scrollTop = 0;
        this.tree.view.activate(-1, true);
        byID("files-problem").hidden = true;
        this.appList.show(this.apps);
        this.choose(null);
        if (byID("files").dataset.view === "guidelines") this.guidelines.show();
    },

    filterBy(word) {
        const { filter } = this.tree;
        const words = filter.value.split(/\s+/).filter(one => one !== "");
        filter.value = (words.includes(word) ? words.filter(one => one !== word) : [...words, word]).join(" ");
        if (byID("files").dataset.view === "guidelines") showView("tree");
        this.tree.search();
    },

    // MARK: Changes

    async refresh() {
        await this.poll();
        await this.refreshApps();
        if (this.chosenPath !== null) this.panel.showFile(this.chosenPath);
    },

    async poll() {
        let status;
        try {
            status = await request("status", undefined, AbortSignal.timeout(statusPatience));
        } catch (problem) {
            this.lost(problem);
            return;
        }
        const isBack = this.problem !== null || this.status === null;
        this.status = status;
        const found = isBack ? this.found() : null;
        this.deviceView.show(status);
        this.timeLine.sample(status);
        replace(byID("actions"), actions.ofDevice().filter(Boolean));
        // That an app is only held as running is no event.
        const apps = JSON.stringify([status.apps, status.mounts, status.running, status.suspended]);
        if (!isBack && apps !== this.lastApps) this.refreshApps();
        this.lastApps = apps;
        await found;
    },

    /** The device answers, for the first time or again. */
    async found() {
        const wasLost = this.problem !== null;
        this.problem = null;
        document.body.classList.remove("lost");
        byID("sentence").hidden = true;
        if (wasLost) this.bar.tell("The device answers again.");
        const rules = request("rules").then(list => this.rules = new Map(list.map(rule => [rule.rule, rule])),
            // Refusals are shown without their explanation then.
            () => undefined);
        await Promise.all([rules, this.refreshApps(), this.refreshFacts()]);
    },

    /** The device, or the way to it, is gone: the page says so, and goes on asking. */
    lost(problem) {
        if (!isOutOfReach(problem)) {
            // Questions that are asked again and again fail in the same way: once is enough.
            if (this.complaint !== problem.message) this.bar.tell(shown(problem.message), true);
            this.complaint = problem.message;
            return;
        }
        const isSame = this.problem?.kind === problem.kind;
        this.problem = problem;
        if (isSame) return;
        this.status = null;
        document.body.classList.add("lost");
        this.deviceView.showOff(["ended", "signedOut"].includes(problem.kind) ? "unknown" : "off");
        replace(byID("actions"));
        const [words, command] = {
            ended: ["The command that serves this page has ended. Start it again, and open the link that it prints:",
                commands.ui()],
            signedOut: ["This page is not let in any more: open the link that the command has printed, or press Enter "
                + "there for a new one.", null],
        }[problem.kind] ?? ["The device is off. The rest of the page is as it was last, and goes on by "
            + "itself when the device is on:", commands.boot()];
        replace(byID("sentence"), make("p", {}, words), command ? commandLine(() => command).element : null);
        byID("sentence").hidden = false;
    },

    async refreshApps() {
        try {
            this.apps = await request("apps");
        } catch (problem) {
            this.lost(problem);
            return;
        }
        this.appList.show(this.apps);
        if (this.app === null || !this.findApp(this.app)) {
            const first = this.findApp(addressedApp()) ?? this.apps.find(app => app.running && app.mountPoint)
                ?? this.apps.find(app => app.mountPoint) ?? this.apps[0];
            if (first) this.openApp(first.identifier);
            else this.panel.showApp(null);
        } else if (this.chosenPath === null && this.chosenEvent === null) {
            const chosen = this.findApp(this.app);
            this.panel.showApp(chosen, this.ownerOf(chosen));
        }
    },

    async refreshFacts() {
        if (this.problem !== null) return;
        const view = this.deviceView;
        const ask = async (path, name) => {
            try {
                view[name] = { ...await request(path, {}), received: performance.now() };
            } catch (problem) {
                if (isOutOfReach(problem)) this.lost(problem);
            }
        };
        await Promise.all([ask("clock", "clock"), ask("conditions", "surroundings"), ask("schedule", "schedule")]);
        view.fill();
    },

    /** The state of the device has changed: what can be read now is another. */
    stateChanged() {
        if (!this.tree) return;
        this.tree.view.update();
        this.showSums();
        if (this.chosenPath !== null) this.panel.showFile(this.chosenPath);
    },

    async showSums() {
        const sums = await this.files.ask("sums");
        if (!sums) return;
        showLegend(byID("legend"), sums);
        setText(byID("sums"), `${counted(sums.files, "file")}, ${bytes(sums.size)}${this.isComplete ? "" : " so far"}`);
    },
};

/** The app that the page's address names. */
function addressedApp() {
    try {
        return decodeURIComponent(location.hash.slice(1));
    } catch {
        return "";
    }
}

// MARK: Live

const appEvents = new Set(["installed", "mounted", "unmounted", "entered", "suspended", "resumed", "terminated",
    "restarted"]);

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

function heed() {
    const apps = calm(300, () => page.refreshApps());
    const state = calm(200, () => page.poll());
    page.record.listeners.push(event => {
        if (event.moment < Date.now() - 5000) return;
        if (appEvents.has(event.event)) apps();
        if (eventTones[event.event] === "state" || event.event === "purged") state();
    });
    const sums = calm(1000, () => page.showSums());
    const again = calm(250, () => page.map.schedule());
    page.files.listen(notice => {
        if (notice.notice === "failed") {
            // The page says already where the device is out of reach.
            if (isOutOfReach(notice)) return;
            setText(byID("files-problem"), sentence(notice.message));
            byID("files-problem").hidden = false;
            return;
        }
        if (notice.notice === "touched") {
            const path = page.chosenPath;
            // With a directory all may have gone that lies in it.
            const isMeant = one => one === null || one === "" || path === one || path.startsWith(one + "/");
            if (path !== null && notice.paths.some(isMeant)) page.panel.showFile(path);
            return;
        }
        byID("files-problem").hidden = true;
        page.isComplete = notice.isComplete;
        page.tree.view.schedule();
        sums();
        again();
        if (page.wanted !== undefined) page.seek();
    });
}

/** Follows a stream for as long as there is this page: when it ends, it is asked for again. */
async function keepFollowing(path, take, begun) {
    for (;;) {
        try {
            await follow(path, take, begun);
        } catch (problem) {
            page.lost(problem);
        }
        await new Promise(resume => setTimeout(resume, 1500));
    }
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
        const { requests } = await request("activity");
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
}

function beginLive() {
    for (const part of document.querySelectorAll("[data-mode=report]")) part.remove();
    for (const part of document.querySelectorAll("[data-mode=live]")) part.hidden = false;
    document.body.classList.add("live");
    Object.assign(page, {
        bar: new CommandBar(), files: new WorkerFiles(), record: new EventRecord(), panel: new Panel(),
        appList: new AppList(),
        guidelines: new Guidelines(),
    });
    page.deviceView = new DeviceView();
    page.tree = new Tree();
    page.map = new Treemap();
    page.list = new EventList(page.record);
    page.timeLine = new TimeLine(page.record);
    byID("read-only").hidden = !page.readOnly;
    for (const button of document.querySelectorAll("[data-show]")) {
        button.addEventListener("click", () => showView(button.dataset.show));
    }
    document.addEventListener("keydown", event => {
        if (event.key !== "/" || event.target.closest("input, select, textarea, dialog")) return;
        byID("filter").focus();
        event.preventDefault();
    });
    acceptDrops(byID("files"));
    heed();
    showLegend(byID("legend"), null);
    // A listing that begins after they are followed finds the changes before.
    const relist = () => page.app && page.files.open(page.app);
    keepFollowing("changes/follow", change => page.files.change(change.app, change.path), relist);
    keepFollowing("events/follow", event => page.record.take(event), () => page.record.begin());
    page.refreshApps();
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
