// The record of events as it comes: kept up to a length, filtered by app, rule and path, the last one first.
"use strict";

const mostEvents = 20000;

const eventNames = {
    refused: "Refused", corrupt: "Corrupt", willBecomeUnavailable: "Will lock", didBecomeAvailable: "Available",
    locked: "Locked", unlocked: "Unlocked", restarted: "Restarted", purged: "Purged", delivered: "Delivered",
    installed: "Installed", mounted: "Mounted", unmounted: "Unmounted", disobeyed: "Disobeyed", cleaned: "Cleaned",
    backedUp: "Backed up", entered: "Entered", expiring: "Expiring", suspended: "Suspended", resumed: "Resumed",
    terminated: "Terminated", missed: "Missed",
};

const eventTones = {
    refused: "bad", corrupt: "bad", terminated: "bad", disobeyed: "bad", missed: "bad", purged: "space",
    cleaned: "space",
    locked: "state", unlocked: "state", restarted: "state", willBecomeUnavailable: "state", didBecomeAvailable: "state",
};

function eventTitle(event) {
    const what = eventNames[event.event] ?? shown(event.event);
    return make("span", { class: `tone tone-${eventTones[event.event] ?? "plain"}` }, what);
}

/** All that an event says besides its time, its name, its app and its path. */
function eventWords(event) {
    const parts = [];
    if (event.operation) parts.push(`${event.process ?? "a process"} called ${event.operation}`);
    else if (event.process) parts.push(event.process);
    if (event.rule) parts.push(event.rule);
    if (event.errno) parts.push(event.errno);
    if (event.reason) parts.push(event.reason);
    if (event.state) parts.push(event.state);
    if (event.lock) parts.push(event.lock + " lock");
    if (event.size !== undefined) parts.push(bytes(event.size));
    if (event.remaining !== undefined) parts.push(`${duration(event.remaining)} left`);
    if (event.range) parts.push(`${bytes(event.range.length)} from ${number(event.range.offset)} on lost`);
    for (const key of ["omitted", "missed", "dropped"]) if (event[key]) parts.push(`${number(event[key])} ${key}`);
    return parts.map(shown).join(" · ");
}

function eventFacts(event) {
    const said = new Set(["time", "event", "app", "path", "range", "size", "remaining", "deviceTime", "moment",
        "number"]);
    return [
        ["Time", timeOf(event.time)], ["Device's time", event.deviceTime && timeOf(event.deviceTime)],
        ["App", event.app && nameOf(event.app)],
        ["Path", event.path === undefined ? null : event.path === "" ? "the home itself" : pathOf(event.path)],
        ["Size", event.size === undefined ? null : bytes(event.size)],
        ["Left", event.remaining === undefined ? null : duration(event.remaining)],
        ["Lost", event.range && `${bytes(event.range.length)} from byte ${number(event.range.offset)} on`],
        ...Object.keys(event).filter(key => !said.has(key)).map(key => [
            key.slice(0, 1).toUpperCase() + shown(key.slice(1)), nameOf(String(event[key]))]),
    ];
}

/** The events that came, and those of them that the filter lets through. */
class EventRecord {
    constructor() {
        this.all = [];
        this.found = [];
        this.apps = new Set();
        this.rules = new Set();
        this.condition = { app: "", rule: "", words: [] };
        /** The number of the last event: each has one, which rises. */
        this.last = 0;
        this.listeners = [];
    }

    /** Takes another record in the place of this one. */
    renew(events) {
        this.all = [];
        this.filter();
        this.take(events);
        for (const listener of this.listeners) listener(null);
    }

    /** Takes events that have come. */
    take(events) {
        for (const event of events) {
            event.moment = Date.parse(event.time);
            event.number = this.last += 1;
            this.all.push(event);
            if (event.app) this.apps.add(event.app);
            if (event.rule) this.rules.add(event.rule);
            if (this.lets(event)) this.found.push(event);
        }
        if (this.all.length > mostEvents * 1.1) {
            this.all = this.all.slice(-mostEvents);
            this.filter();
        }
    }

    /** Takes events that happen now, and tells of them. */
    hear(events) {
        this.take(events);
        for (const listener of this.listeners) listener(events);
    }

    lets(event) {
        const { app, rule, words } = this.condition;
        if (app !== "" && event.app !== app) return false;
        if (rule === "refused" ? event.event !== "refused" : rule === "device" ? event.app !== undefined
            : rule !== "" && event.rule !== rule) return false;
        if (words.length === 0) return true;
        const text = folded([event.path, event.process, event.operation, event.event, event.reason].join(" "));
        return words.every(word => text.includes(word));
    }

    filter() {
        this.found = this.all.filter(event => this.lets(event));
    }

    /** How many of the found events came after the one of a number. */
    after(number) {
        let count = 0;
        while (count < this.found.length && this.found[this.found.length - 1 - count].number > number) count += 1;
        return count;
    }
}

class EventList {
    constructor(record) {
        this.record = record;
        this.scroller = byID("events");
        this.selects = { app: byID("event-app"), rule: byID("event-rule") };
        this.words = byID("event-words");
        this.fresh = byID("event-fresh");
        /** The number of the last event that is drawn or was told. */
        this.seen = 0;
        this.unread = 0;
        const heads = ["Time", "Event", "App", "Path", "Details"].map(title => make(
            "div", { role: "columnheader", class: "event-" + title.toLowerCase() }, title));
        this.scroller.append(make("div", { role: "rowgroup", class: "head" },
            make("div", { role: "row", "aria-rowindex": "1" }, heads)));
        this.view = new RowView(this.scroller, {
            label: "event", fetch: async (from, to, number) => this.rows(from, to, number),
            draw: (row, element) => this.draw(row, element),
            sign: ({ event }) => event.number * 2 + (event === page.chosenEvent), name: ({ event }) => event.number,
            choose: row => page.chooseEvent(row.event), key: () => false,
        });
        for (const control of [this.selects.app, this.selects.rule]) control.addEventListener(
            "change", () => this.search());
        this.words.addEventListener("input", () => this.search());
        this.fresh.addEventListener("click", () => {
            this.scroller.scrollTop = 0;
            this.scroller.focus();
        });
        this.scroller.addEventListener("scroll", () => this.showFresh(), { passive: true });
        record.listeners.push(events => {
            if (events === null) this.forgetPlace();
            this.schedule();
        });
    }

    rows(from, to, number) {
        const { found } = this.record;
        const rows = [];
        for (let place = Math.max(0, from); place < Math.min(to, found.length); place += 1) {
            rows.push({ event: found[found.length - 1 - place], place });
        }
        const place = number === undefined ? -1 : this.record.after(number);
        const isThere = found[found.length - 1 - place]?.number === number;
        return { count: found.length, from: Math.max(0, from), rows, place: isThere ? place : -1 };
    }

    draw({ event }, element) {
        element.classList.add("row");
        element.classList.toggle("chosen", event === page.chosenEvent);
        element.setAttribute("aria-selected", String(event === page.chosenEvent));
        const path = event.path === undefined ? "" : event.path === "" ? "(home)" : event.path;
        const details = eventWords(event);
        const cells = [["time", timeOf(event.time, true)], ["event", eventTitle(event)],
            ["app", make("span", { title: shown(event.app ?? "") },
                nameOf(page.findApp(event.app)?.name ?? event.app ?? ""))],
            ["path", make("span", { title: shown(path) }, nameOf(path))],
            ["details", make("span", { title: details }, details)]];
        replace(element, cells.map(([name, cell]) => make(
            "div", { role: "gridcell", class: "event-" + name }, cell)));
    }

    schedule() {
        this.isScheduled ??= setTimeout(() => {
            this.isScheduled = undefined;
            this.update();
        }, 100);
    }

    /** Shows what came. A reader further down keeps the place, and is told how many there are above. */
    update() {
        const more = this.record.after(this.seen);
        if (more > 0 && this.seen > 0 && this.scroller.scrollTop > rowHeight / 2) {
            this.view.stretch(this.record.found.length);
            this.scroller.scrollTop += more * rowHeight;
            this.unread += more;
        }
        this.seen = this.record.last;
        this.fillSelects();
        this.showFresh();
        byID("event-none").hidden = this.record.found.length > 0;
        this.view.update();
    }

    /** The record is another one: nothing in it was read, and nothing is new. */
    forgetPlace() {
        this.seen = this.record.last;
        this.unread = 0;
        this.view.activate(-1, { isQuiet: true });
    }

    showFresh() {
        if (this.scroller.scrollTop <= rowHeight / 2) this.unread = 0;
        this.fresh.hidden = this.unread === 0;
        setText(this.fresh, `${counted(this.unread, "new event")} above`);
    }

    fillSelects() {
        const apps = [...this.record.apps].sort();
        const rules = [...this.record.rules].sort();
        this.fill(this.selects.app, [["", "All apps"], ...apps.map(app => [app, shortened(app, 40)])]);
        this.fill(this.selects.rule, [["", "All events"], ["refused", "Refusals"], ["device", "The device's own"],
            ...rules.map(rule => [rule, "Rule " + shortened(rule)])]);
    }

    fill(select, choices) {
        if (select.options.length === choices.length) return;
        const { value } = select;
        select.replaceChildren(...choices.map(([key, text]) => make("option", { value: key }, text)));
        select.value = value;
    }

    search() {
        this.record.condition = {
            app: this.selects.app.value, rule: this.selects.rule.value,
            words: folded(this.words.value).split(/\s+/).filter(word => word !== ""),
        };
        this.record.filter();
        this.seen = this.record.last;
        this.scroller.scrollTop = 0;
        this.view.activate(-1, { isQuiet: true });
        this.update();
    }
}
