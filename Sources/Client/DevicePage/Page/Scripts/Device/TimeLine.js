// The last minutes as a picture: states of the device, space, purges, refusals and other events. A table says the same.
"use strict";

const spans = [2, 10, 60];
const laneNames = ["State", "Space", "Refused", "Purged", "Other"];
const laneHeight = 17;
const labelWidth = 60;
const bandHeights = { unlocked: 3, locking: 8, off: 1 };

class TimeLine {
    constructor(record) {
        this.record = record;
        this.picture = byID("timeline");
        this.table = byID("timeline-table");
        this.samples = [];
        this.outages = [];
        this.minutes = 10;
        const choice = byID("timeline-span");
        choice.append(...spans.map(minutes => make("option", { value: minutes }, `${minutes} minutes`)));
        choice.value = this.minutes;
        choice.addEventListener("change", () => {
            this.minutes = Number(choice.value);
            this.update();
        });
        this.more = byID("timeline-more");
        this.more.addEventListener("click", () => this.toggle());
        new ResizeObserver(() => this.update()).observe(this.picture.parentElement);
        setInterval(() => document.hidden || this.update(), 1000);
    }

    /** Shows the table in the place of the picture, or the picture again. */
    toggle() {
        this.isTable = !this.isTable;
        setText(this.more, this.isTable ? "As a picture" : "As a table");
        byID("timeline-box").hidden = this.isTable;
        byID("timeline-details").hidden = !this.isTable;
        this.update();
    }

    /** Keeps what was available at a moment. */
    sample(status) {
        if (status.available === null || status.available === undefined) return;
        this.samples.push({ moment: Date.now(), available: status.available, capacity: status.capacity });
        const oldest = Date.now() - spans[spans.length - 1] * 60000;
        while (this.samples.length > 2 && this.samples[1].moment < oldest) this.samples.shift();
    }

    /** Keeps that the device is out of reach from now on, shown as `off` or `unknown`; or with null that it is back. */
    lose(state) {
        const last = this.outages.at(-1);
        if (state !== null) this.outages.push({ state, from: Date.now(), to: Infinity });
        else if (last) Object.assign(last, { to: Date.now(), then: page.status?.state });
    }

    /** The states of the device, each with the moment of its beginning, as events tell them and the page has seen. */
    changes() {
        const names = { locked: "locked", unlocked: "unlocked", willBecomeUnavailable: "locking",
            // A device without a passcode is never before its first unlock.
            didBecomeAvailable: "unlocked", restarted: page.status?.hasPasscode ? "beforeFirstUnlock" : "unlocked" };
        const found = this.record.all.filter(event => names[event.event])
            .map(event => ({ state: names[event.event], from: event.moment }));
        for (const { state, from, to, then } of this.outages) {
            found.push({ state, from });
            if (then) found.push({ state: then, from: to });
        }
        found.sort((left, right) => left.from - right.from);
        if (!page.status) return found;
        // Before the first change it was as it is now, where nothing has changed since.
        if (found.length === 0) return [{ state: page.status.state, from: -Infinity }];
        found.at(-1).state = page.status.state;
        return found;
    }

    /** The parts of a span of time by the state of the device. */
    states(changes, from, to) {
        return changes.map(({ state, from: begin }, index) => ({
            state, from: Math.max(from, begin), to: Math.min(to, changes[index + 1]?.from ?? to),
        })).filter(band => band.to > band.from);
    }

    recent(from) {
        const { all } = this.record;
        let first = all.length;
        while (first > 0 && all[first - 1].moment >= from) first -= 1;
        return all.slice(first);
    }

    lane(event) {
        if (event.event === "refused") return 2;
        if (event.event === "purged" || event.event === "cleaned") return 3;
        if (eventTones[event.event] === "state") return -1;
        return 4;
    }

    update() {
        const to = Date.now();
        const from = to - this.minutes * 60000;
        if (this.isTable) {
            this.fill(this.recent(from), from, to);
            return;
        }
        const width = Math.floor(this.picture.parentElement.clientWidth);
        if (width < 100) return;
        const x = moment => labelWidth + (moment - from) / (to - from) * (width - labelWidth - 8);
        const events = this.recent(from);
        const height = laneNames.length * laneHeight + 18;
        this.picture.setAttribute("viewBox", `0 0 ${width} ${height}`);
        this.picture.setAttribute("width", width);
        this.picture.setAttribute("height", height);
        replace(this.picture, this.scale(from, to, x, height), this.labels(), this.bands(from, to, x),
            this.space(from, to, x), this.ticks(events, x));
        this.picture.setAttribute("aria-label", this.words(events));
    }

    scale(from, to, x, height) {
        const step = { 2: 30000, 10: 120000, 60: 600000 }[this.minutes];
        const marks = [];
        // Only so many texts as have room beside each other.
        const room = Math.ceil(92 / Math.max(1, x(step) - x(0)));
        for (let moment = Math.ceil(from / step) * step; moment < to; moment += step) {
            marks.push(draw("line", { class: "mark", x1: x(moment), x2: x(moment), y1: 0, y2: height - 16 }));
            if (x(moment) > labelWidth + 36 && x(moment) < x(to) - 36 && moment / step % room === 0) {
                marks.push(draw("text", { class: "scale", x: x(moment), y: height - 4, "text-anchor": "middle" },
                    clockForm.format(moment)));
            }
        }
        return marks;
    }

    labels() {
        return laneNames.map((name, index) => draw("text", { class: "lane", x: 0, y: index * laneHeight + 13 }, name));
    }

    bands(from, to, x) {
        return this.states(this.changes(), from, to).flatMap(band => {
            const wide = x(band.to) - x(band.from);
            // Its height says the state too: the more is closed, the higher.
            const height = bandHeights[band.state] ?? 12;
            const shape = draw("rect", { class: `band band-${band.state}`, x: x(band.from), y: 15 - height,
                width: Math.max(1, wide), height, rx: Math.min(2, height / 2) },
            draw("title", {}, stateNames[band.state] ?? band.state));
            if (wide < 70) return [shape];
            return [shape, draw("text", { class: `band-text band-text-${band.state}`, x: x(band.from) + 5,
                y: height < 12 ? 15 - height - 1.5 : 12.5 }, stateNames[band.state])];
        });
    }

    space(from, to, x) {
        const samples = this.samples.filter((sample, index) =>
            sample.moment >= from || this.samples[index + 1]?.moment > from);
        if (samples.length === 0) return [];
        const least = Math.min(...samples.map(sample => sample.available));
        const most = Math.max(...samples.map(sample => sample.available));
        const y = value => laneHeight + 15 - (most === least ? 6 : (value - least) / (most - least) * 11);
        const points = samples.map(sample =>
            `${x(Math.max(from, sample.moment)).toFixed(1)},${y(sample.available).toFixed(1)}`);
        points.push(`${x(to).toFixed(1)},${points[points.length - 1].split(",")[1]}`);
        const line = draw("polyline", { class: "space", points: points.join(" ") });
        const left = Number(points[0].split(",")[0]);
        if (left < labelWidth + 80) return [line];
        const now = bytes(samples[samples.length - 1].available);
        return [line, draw("text", { class: "scale", x: left - 6, y: laneHeight + 13, "text-anchor": "end" }, now)];
    }

    /** Events of a lane that fall on one pixel are one tick, the taller the more there are. */
    ticks(events, x) {
        const found = new Map();
        for (const event of events) {
            const lane = this.lane(event);
            if (lane < 0) continue;
            const key = `${lane} ${Math.round(x(event.moment) / 3)}`;
            found.set(key, (found.get(key) ?? 0) + 1);
        }
        return [...found].map(([key, count]) => {
            const [lane, place] = key.split(" ").map(Number);
            const tall = Math.min(13, 6 + 2 * Math.log2(count));
            return draw("rect", { class: `tick tick-${lane}`, x: place * 3 - 1, y: lane * laneHeight + 15.5 - tall,
                width: 2, height: tall });
        });
    }

    words(events) {
        return `The last ${this.minutes} minutes: ${counted(this.count(events, 2), "refusal")}, `
            + `${counted(this.count(events, 3), "purge")}, ${counted(this.count(events, 4), "other event")}. `
            + "The table has them minute by minute.";
    }

    count(events, lane) {
        return events.filter(event => this.lane(event) === lane).length;
    }

    /** The table that says what the picture shows, minute by minute. */
    fill(events, from, to) {
        const step = this.minutes > 10 ? 300000 : 60000;
        const rows = [];
        const changes = this.changes();
        for (let end = to; end > from; end -= step) {
            const part = events.filter(event => event.moment > end - step && event.moment <= end);
            const space = this.samples.filter(sample => sample.moment <= end).pop();
            const states = this.states(changes, end - step, end).map(band => stateNames[band.state]);
            rows.push(make("tr", {}, make("th", { scope: "row" }, timeText(end - step)),
                make("td", {}, [...new Set(states)].join(", ")),
                make("td", { class: "number" }, space ? bytes(space.available) : "–"),
                ...[2, 3, 4].map(lane => make("td", { class: "number" }, number(this.count(part, lane))))));
        }
        replace(this.table, rows);
    }
}
