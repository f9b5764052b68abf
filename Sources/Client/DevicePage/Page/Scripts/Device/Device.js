// The device itself: its name and state in the header, its facts, and its apps with the head of the chosen one.
"use strict";

const stateIcons = { unlocked: "unlock", locking: "clock", locked: "lock", beforeFirstUnlock: "boot", off: "boot" };
const waitWords = { locked: "the lock", firstUnlock: "the first unlock", power: "power", wifi: "Wi-Fi" };

class DeviceView {
    constructor() {
        this.facts = byID("device-facts");
        this.badge = byID("state");
        this.grace = byID("grace");
        this.rates = { text: "–", top: "" };
        const name = shown(page.device.split("/").filter(part => part !== "").pop() ?? page.device);
        setText(byID("device-name"), name);
        byID("device-path").replaceChildren(pathOf(page.device));
        document.title = `${name} – appcontainer`;
        setInterval(() => this.tick(), 250);
    }

    /** Shows a status that came. */
    show(status) {
        const readable = state => state?.readable.join();
        const isNew = this.status?.state !== status.state || readable(this.status) !== readable(status);
        this.status = status;
        this.received = performance.now();
        if (isNew) this.announce(status.state);
        this.fill();
    }

    announce(state) {
        this.badge.className = `state state-${state}`;
        replace(this.badge, icon(stateIcons[state] ?? "boot"), make("span", {}, stateNames[state] ?? shown(state)));
        page.stateChanged();
    }

    showOff(state) {
        this.status = null;
        this.activity = null;
        this.rates = { text: "–", top: "" };
        this.announce(state);
        this.grace.hidden = true;
        replace(this.facts, make("p", { class: "quiet" }, "Nothing is known while the device does not answer."));
    }

    /** The seconds of the grace period that are left now. */
    graceLeft() {
        if (this.status?.state !== "locking" || this.status.graceRemaining === null) return null;
        return Math.max(0, this.status.graceRemaining - (performance.now() - this.received) / 1000);
    }

    passcodeWait() {
        if (!this.status?.passcodeWait) return 0;
        return Math.max(0, this.status.passcodeWait - (performance.now() - this.received) / 1000);
    }

    deviceTime() {
        if (!this.clock) return null;
        return Date.parse(this.clock.time) + (performance.now() - this.clock.received);
    }

    /** Moves on all that runs by itself between two answers. */
    tick() {
        const left = this.graceLeft();
        this.grace.hidden = left === null;
        if (left !== null) {
            this.graceWhole = Math.max(this.graceWhole ?? 0, left);
            byID("grace-bar").style.width = `${100 * left / this.graceWhole}%`;
            setText(byID("grace-words"), `locks in ${Math.ceil(left)} s`);
        } else {
            this.graceWhole = 0;
        }
        const wait = byID("passcode-wait");
        if (wait) setText(wait, this.waitText());
        const clock = byID("clock-now");
        if (clock && this.clock) setText(clock, timeText(this.deviceTime()));
    }

    waitText() {
        return `next attempt in ${duration(Math.ceil(this.passcodeWait()))}`;
    }

    fill() {
        const { status } = this;
        if (!status) return;
        replace(this.facts, make("dl", { class: "facts" }, this.pairs(status).filter(([, value]) => value).map(
            ([term, value]) => make("div", {}, make("dt", {}, term), make("dd", {}, value)))), spaceBar(status));
        this.tick();
    }

    pairs(status) {
        const readable = status.readable.map(raw => protectionNumbers.get(raw)).filter(Boolean).sort();
        return [
            ["Readable", readable.length > 0 ? readable.map(number => classBadge(number)) : "no class"],
            ["Passcode", this.passcodeWords(status)],
            ["Power", this.surroundings && this.condition("power", this.surroundings.power)],
            ["Wi-Fi", this.surroundings && this.condition("wifi", this.surroundings.wifi)],
            ["Clock", this.clockWords()],
            ["Daily backup", this.scheduleWords()],
            ["Requests", make("span", { title: this.rates.top }, this.rates.text)],
            ["Disobeys", status.capricious === null ? null : ["by the seed ", nameOf(status.capricious)]],
            ["Waiting", status.waiting.length > 0 ? counted(status.waiting.length, "restored container") : null],
        ];
    }

    passcodeWords(status) {
        if (!status.hasPasscode) return "none: always unlocked";
        const parts = ["set"];
        if (status.passcodeAttempts > 0) {
            const end = status.eraseAfterTen ? " of ten before it is erased" : "";
            parts.push(`, ${status.passcodeAttempts} wrong${end}`);
        } else if (status.eraseAfterTen) {
            parts.push(", ten wrong ones erase it");
        }
        if (status.passcodeWait) parts.push("; ", make("span", { id: "passcode-wait", class: "warning" },
            this.waitText()));
        return make("span", {}, parts);
    }

    condition(word, isOn) {
        const name = { power: "Power", wifi: "Wi-Fi" }[word];
        if (page.readOnly) return isOn ? "on" : "off";
        return make("button", {
            type: "button", role: "switch", class: "switch", "aria-checked": String(isOn), "aria-label": name,
            "data-command": word, click: () => actions.setCondition(word), ...commandHints(
                () => commands.conditions(word, !this.surroundings[word])),
        }, make("span", { class: "knob", "aria-hidden": "true" }), isOn ? "on" : "off");
    }

    clockWords() {
        if (!this.clock) return null;
        const ahead = this.clock.ahead;
        return make("span", {}, make("span", { id: "clock-now" }, timeText(this.deviceTime())),
            ahead >= 1 ? make("span", { class: "quiet" }, ` ${duration(ahead)} ahead`) : null);
    }

    scheduleWords() {
        const schedule = this.schedule;
        if (!schedule?.backup) return null;
        const missing = schedule.missing.map(one => waitWords[one] ?? one);
        return make("span", {}, "next ", schedule.next ? timeOf(schedule.next) : "–",
            missing.length > 0 ? make("span", { class: "quiet" }, `; waits for ${missing.join(", ")}`) : null);
    }

    showActivity(requests) {
        const now = performance.now();
        const sum = Object.values(requests).reduce((total, one) => total + one, 0);
        if (this.activity && sum >= this.activity.sum) {
            const seconds = (now - this.activity.time) / 1000;
            const before = this.activity.requests;
            const rates = Object.entries(requests).map(
                ([kind, count]) => [kind, (count - (before[kind] ?? 0)) / seconds])
                .filter(([, rate]) => rate >= 0.5).sort((left, right) => right[1] - left[1]);
            this.rates = {
                text: `${number(Math.round((sum - this.activity.sum) / seconds))}/s`
                    + (rates.length > 0 ? `, mostly ${shown(rates[0][0])}` : ""),
                top: rates.map(([kind, rate]) => `${shown(kind)} ${number(Math.round(rate))}/s`).join(", "),
            };
        }
        this.activity = { requests, sum, time: now };
    }
}

/** The space of the device: a bar of what is used, may be purged and is free, and the same in words. */
function spaceBar(status) {
    if (status.capacity === null || status.used === null) return null;
    const purgeable = Math.min(status.purgeable ?? 0, status.used);
    const total = Math.max(status.capacity, status.used + (status.available ?? 0), 1);
    const parts = [
        ["used", "Used", status.used - purgeable], ["going", "Purgeable", purgeable],
        ["free", "Available", status.available ?? 0],
    ];
    // Of a capacity that is the disk's, other files take a part.
    const rest = total - status.used - (status.available ?? 0);
    if (rest > total / 100) parts.push(["other", "Not the device’s", rest]);
    const bar = make("div", { class: "space-bar", "aria-hidden": "true" }, parts.map(([name, , size]) => {
        const part = make("span", { class: "space-" + name });
        part.style.width = `${100 * size / total}%`;
        return part;
    }));
    const words = make("dl", { class: "space-words" }, parts.map(([name, title, size]) => make("div", {},
        make("dt", {}, make("span", { class: `key space-${name}`, "aria-hidden": "true" }), title),
        make("dd", {}, bytes(size)))));
    return make("div", { class: "space" }, make("p", { class: "space-title" }, `${bytes(status.capacity)} of space`),
        bar, words);
}

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
