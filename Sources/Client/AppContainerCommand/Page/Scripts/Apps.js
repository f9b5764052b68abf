// The apps of the device with their extensions, and the head of the chosen one.
"use strict";

/** The state of an app or extension in words. */
function appStateWords(app) {
    if (!app.running) return "not running";
    return { foreground: "running", background: "in the background", suspended: "suspended" }[app.state]
        ?? shown(app.state);
}

class AppList {
    constructor() {
        this.list = byID("app-list");
        this.head = byID("app-head");
        this.list.addEventListener("keydown", event => this.press(event));
        this.list.addEventListener("click", event => {
            const button = event.target.closest("button[data-app]");
            if (button) page.openApp(button.dataset.app);
        });
        this.apps = [];
    }

    show(apps) {
        this.apps = apps;
        replace(this.list, apps.length === 0 ? make("li", { class: "quiet" }, "No app is installed.")
            : apps.map(app => make("li", {}, this.entry(app, false), app.extensions.length === 0 ? null
                : make("ul", {}, app.extensions.map(one => make("li", {}, this.entry(one, true)))))));
        this.showHead();
    }

    entry(app, isExtension) {
        const state = app.running ? app.state : "none";
        return make("button", {
            type: "button", class: "app", "data-app": app.identifier,
            "aria-current": String(app.identifier === page.app),
        }, make("span", { class: `dot dot-${state}`, "aria-hidden": "true" }),
        make("span", { class: "app-words" }, make("span", { class: "app-name" }, nameOf(app.name)),
            make("span", { class: "app-state" }, isExtension ? `extension, ${appStateWords(app)}` : appStateWords(app),
                app.groups.length > 0 && !isExtension ? `, ${counted(app.groups.length, "group")}` : "")));
    }

    press(event) {
        const buttons = [...this.list.querySelectorAll("button")];
        const at = buttons.indexOf(document.activeElement);
        const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
        if (!step || at < 0) return;
        buttons[at + step]?.focus();
        event.preventDefault();
    }

    /** The head above the files: the app's name, its state, and what can be done with it. */
    showHead() {
        const app = page.findApp(page.app);
        if (!app) {
            replace(this.head);
            return;
        }
        replace(this.head, make("h2", { id: "files-title" }, nameOf(app.name)),
            make("span", { class: "head-state" }, make(
                "span", { class: `dot dot-${app.running ? app.state : "none"}`, "aria-hidden": "true" }),
                appStateWords(app)),
            make("span", { class: "head-place quiet" }, app.mountPoint ? ["at ", pathOf(app.mountPoint)]
                : "not mounted"),
            page.readOnly ? null : make("div", { class: "tools", role: "group", "aria-label": "Actions on the app" },
                appActions(app)));
    }
}
