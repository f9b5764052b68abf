// The page as a whole: keeps the way to the device, and tells its parts what was chosen and has changed.
"use strict";

const statusPatience = 15000;

/** Ends a question of the page that nobody answers. */
function patience() {
    return AbortSignal.timeout(statusPatience);
}

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
        this.wanted = undefined;
        if (this.mode === "report") {
            this.chosenPath = path;
            this.map.draw();
            return;
        }
        // What has the focus goes with the panel's content.
        const isLeft = (this.chosenPath ?? this.chosenEvent) !== null
            && byID("panel").contains(document.activeElement);
        this.chosenPath = path;
        this.chosenEvent = null;
        this.map.draw();
        byID("panel").scrollTop = 0;
        if (path === null) {
            const chosen = this.findApp(this.app);
            this.panel.showApp(chosen, this.ownerOf(chosen));
            if (isLeft) this.filesInView().focus();
        } else {
            this.panel.showFile(path).then(() => this.panel.reveal());
            this.bar.show(commands.inspect(home(), path));
        }
        if (isToBeShown && path !== null) this.tree.reveal(path);
        this.tree.view.update();
        this.list.view.update();
    },

    chooseEvent(event) {
        this.wanted = undefined;
        this.chosenPath = null;
        this.chosenEvent = event;
        this.panel.showEvent(event);
        this.panel.reveal();
        this.bar.show(event.event === "refused" ? commands.explain() : "");
        this.tree.view.update();
        this.list.view.update();
        this.map.draw();
    },

    /** The view of the files that is to be seen, for the focus. */
    filesInView() {
        return [byID("tree"), byID("map")].find(one => one.checkVisibility()) ?? byID("filter");
    },

    /** Shows a file of any app, also one whose files are still being listed. */
    goTo(app, path) {
        this.openApp(app);
        if (!byID("tree").checkVisibility()) showView("tree");
        this.wanted = path;
        this.seek();
    },

    async seek() {
        const path = this.wanted;
        if (path === undefined) return;
        if (path === "") {
            this.choose("");
            return;
        }
        // Asked first: what is complete then cannot be missed by the answer.
        const { isComplete } = this;
        const isThere = await this.tree.reveal(path);
        if (path !== this.wanted) return;
        if (isThere) {
            this.choose(path);
        } else if (isComplete) {
            this.wanted = undefined;
            this.bar.tell(`${shown(path)} is not there any more.`, true);
        }
    },

    openApp(identifier) {
        if (identifier === this.app) return;
        this.app = identifier;
        this.isComplete = false;
        this.wanted = undefined;
        history.replaceState(null, "", location.pathname + "#" + encodeURIComponent(identifier));
        this.files.open(identifier);
        this.tree.order();
        this.map.enter("");
        byID("tree").scrollTop = 0;
        this.tree.view.activate(-1, { isQuiet: true });
        byID("files-problem").hidden = true;
        this.appList.show(this.apps);
        this.choose(null);
        if (byID("files").dataset.view === "guidelines") this.guidelines.show();
    },

    /** No app is installed any more, or none yet. */
    closeApp() {
        this.app = null;
        this.chosenPath = null;
        this.wanted = undefined;
        this.files.open(null);
        this.map.enter("");
        this.tree.view.activate(-1, { isQuiet: true });
        this.tree.view.update();
        byID("files-problem").hidden = true;
        setText(byID("sums"), "");
        showLegend(byID("legend"), null);
        if (this.chosenEvent === null) this.panel.showApp(null);
    },

    filterBy(word) {
        const { filter } = this.tree;
        const words = filter.value.split(/\s+/).filter(one => one !== "");
        filter.value = (words.includes(word) ? words.filter(one => one !== word) : [...words, word]).join(" ");
        if (!byID("tree").checkVisibility()) showView("tree");
        this.tree.search();
    },

    // MARK: Changes

    async refresh() {
        await this.poll();
        await this.refreshApps();
        if (this.chosenPath !== null) this.panel.showFile(this.chosenPath);
    },

    /** Asks for the status. Questions overlap: an answer is shown unless that of a later one was. */
    async poll() {
        const turn = this.asked = (this.asked ?? 0) + 1;
        let status;
        try {
            status = await request("status", undefined, patience());
        } catch (problem) {
            if (turn > (this.answered ?? 0)) this.lost(problem);
            return;
        }
        if (turn < this.answered) return;
        this.answered = turn;
        const isBack = this.problem !== null || this.status === null;
        this.status = status;
        this.complaint = null;
        const found = isBack ? this.found() : null;
        this.deviceView.show(status);
        this.timeLine.sample(status);
        this.showActions();
        // That an app is only held as running is no event.
        const apps = JSON.stringify([status.apps, status.mounts, status.running, status.suspended]);
        if (!isBack && apps !== this.lastApps) this.refreshApps();
        this.lastApps = apps;
        await found;
    },

    showActions() {
        replace(byID("actions"), actions.ofDevice().filter(Boolean));
    },

    /** The device answers, for the first time or again. */
    async found() {
        const wasLost = this.problem !== null;
        this.problem = null;
        document.body.classList.remove("lost");
        byID("sentence").hidden = true;
        if (wasLost) {
            this.bar.tell("The device answers again.");
            this.timeLine.lose(null);
        }
        const rules = request("rules", undefined, patience()).then(
            list => this.rules = new Map(list.map(rule => [rule.rule, rule])),
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
        const isSame = this.problem?.kind === problem.kind && this.problem.message === problem.message;
        if (this.problem !== null && !isSame) this.timeLine.lose(null);
        this.problem = problem;
        if (isSame) return;
        const { words, command, state } = lossOf(problem);
        this.status = null;
        document.body.classList.add("lost");
        this.deviceView.showOff(state);
        this.timeLine.lose(state);
        this.showActions();
        replace(byID("sentence"), make("p", {}, words), command ? commandLine(command).element : null);
        byID("sentence").hidden = false;
    },

    async refreshApps() {
        const turn = this.askedApps = (this.askedApps ?? 0) + 1;
        let apps;
        try {
            apps = await request("apps", undefined, patience());
        } catch (problem) {
            this.lost(problem);
            return;
        }
        if (turn < (this.answeredApps ?? 0)) return;
        this.answeredApps = turn;
        this.apps = apps;
        this.appList.show(this.apps);
        if (this.app === null || !this.findApp(this.app)) {
            const first = this.findApp(addressedApp()) ?? this.apps.find(app => app.running && app.mountPoint)
                ?? this.apps.find(app => app.mountPoint) ?? this.apps[0];
            if (first) this.openApp(first.identifier);
            else this.closeApp();
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
                view[name] = { ...await request(path, {}, patience()), received: performance.now() };
            } catch (problem) {
                if (isOutOfReach(problem)) this.lost(problem);
            }
        };
        await Promise.all([ask("clock", "clock"), ask("conditions", "surroundings"), ask("schedule", "schedule")]);
        view.fill();
    },

    /** The state of the device has changed: what can be read now is another. */
    stateChanged() {
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

/** The page's words for a loss of its device, the command that helps, and the state that it shows. */
function lossOf(problem) {
    switch (problem.kind) {
    case "ended":
        return { words: "The command that serves this page has ended. Start it again, and open the link that it "
            + "prints:", command: commands.ui, state: "unknown" };
    case "signedOut":
        return { words: "This page is not let in any more: open the link that the command has printed, or press Enter "
            + "there for a new one.", state: "unknown" };
    case "daemonUnreachable":
        return { words: "The device is off. The rest of the page is as it was last, and goes on by itself when the "
            + "device is on:", command: commands.boot, state: "off" };
    default:
        return { words: `${sentence(problem.message)} The page goes on asking.`, state: "unknown" };
    }
}
