// Lists of which only what is visible is drawn.
"use strict";

const rowHeight = 24;
const rowsBeyond = 12;
// Browsers clip an element that is higher than this.
const highestList = 8_000_000;

/**
 * Rows of one height in an element that scrolls. The element has the focus, and tells by aria-activedescendant which
 * row is meant: rows come and go.
 */
class RowView {
    /**
     * `fetch(from, to, name)` returns a promise of { count, from, rows, place }, the last of the row of that name.
     * `draw(row, element)` fills a row's element, `sign(row)` is the same for rows that look the same, and `name(row)`
     * stays when the row's place changes.
     */
    constructor(scroller, { fetch, draw, sign, name, choose, key, label }) {
        Object.assign(this, { scroller, fetch, draw, sign, name, choose, key, label });
        this.count = 0;
        this.active = -1;
        /** The name of the active row: the reader means that, wherever it is drawn. Known once it was drawn. */
        this.activeName = undefined;
        this.from = 0;
        this.rows = [];
        this.pool = [];
        this.body = make("div", { class: "rows", role: "rowgroup" });
        scroller.append(this.body);
        scroller.addEventListener("scroll", () => this.schedule(), { passive: true });
        scroller.addEventListener("keydown", event => this.press(event));
        this.body.addEventListener("click", event => this.click(event));
        this.body.addEventListener("dblclick", event => {
            const row = this.rowAt(event.target.closest("[role=row]")?.place);
            if (row && !event.target.closest(".twist")) this.key("twist", row);
        });
        new ResizeObserver(() => this.schedule()).observe(scroller);
    }

    schedule() {
        this.isScheduled ??= requestAnimationFrame(() => {
            this.isScheduled = undefined;
            this.update();
        });
    }

    range() {
        const first = Math.floor(this.scroller.scrollTop / rowHeight);
        const visible = Math.ceil(this.scroller.clientHeight / rowHeight);
        return { from: Math.max(0, first - rowsBeyond), to: first + visible + rowsBeyond };
    }

    /** Asks for the visible rows, and draws them. One question is under way at a time; the last one counts. */
    update() {
        this.isStale = true;
        this.updating ??= this.catchUp().finally(() => this.updating = undefined);
        return this.updating;
    }

    async catchUp() {
        while (this.isStale) {
            this.isStale = false;
            const { from, to } = this.range();
            const { active, activeName } = this;
            const answer = await this.fetch(from, to, activeName);
            if (!answer) continue;
            // A row that came or went above moves the active one, unless the reader has moved on meanwhile.
            const isSame = this.active === active && this.activeName === activeName;
            if (isSame && activeName !== undefined) this.follow(answer);
            // The place of the row that is meant now was not asked for.
            if (!isSame) this.isStale = true;
            this.show(answer);
        }
    }

    follow({ place, count }) {
        if (place >= 0) {
            this.active = place;
        } else {
            this.active = Math.min(this.active, count - 1);
            this.activeName = undefined;
        }
    }

    /** Takes the room of so many rows, so that a place among them can be scrolled to before they are drawn. */
    stretch(count) {
        this.count = count;
        this.body.style.height = Math.min(count * rowHeight, highestList) + "px";
    }

    show({ count, from, rows }) {
        this.stretch(count);
        this.from = from;
        this.rows = rows;
        this.scroller.setAttribute("aria-rowcount", count + 1);
        const free = [];
        const drawn = new Map();
        for (const element of this.pool) {
            if (element.place >= from && element.place < from + rows.length) drawn.set(element.place, element);
            else free.push(element);
        }
        rows.forEach((row, index) => {
            const place = from + index;
            const element = drawn.get(place) ?? this.put(free.pop() ?? this.addRow(), place);
            const signature = this.sign(row);
            if (element.signature !== signature) {
                element.signature = signature;
                this.draw(row, element);
            }
            this.mark(element, place);
        });
        for (const element of free) {
            element.hidden = true;
            element.place = -1;
            element.removeAttribute("id");
        }
        this.point();
    }

    addRow() {
        const element = this.body.appendChild(make("div", { role: "row" }));
        this.pool.push(element);
        return element;
    }

    put(element, place) {
        element.hidden = false;
        element.place = place;
        element.signature = null;
        element.style.transform = `translateY(${place * rowHeight}px)`;
        element.id = `${this.label}-${place}`;
        element.setAttribute("aria-rowindex", place + 2);
        return element;
    }

    mark(element, place) {
        element.classList.toggle("active", place === this.active);
    }

    point() {
        if (this.active < 0) this.activeName = undefined;
        const row = this.rowAt(this.active);
        if (row) this.activeName ??= this.name(row);
        if (this.activeRow()) this.scroller.setAttribute("aria-activedescendant", `${this.label}-${this.active}`);
        else this.scroller.removeAttribute("aria-activedescendant");
    }

    rowAt(place) {
        return this.rows[place - this.from];
    }

    /** The row that is meant, if it is drawn. */
    activeRow() {
        const row = this.rowAt(this.active);
        return row && this.name(row) === this.activeName ? row : undefined;
    }

    /** Means the row at a place. One that is not drawn there yet has to be named. */
    activate(place, { isQuiet = false, name } = {}) {
        this.active = Math.max(-1, Math.min(place, this.count - 1));
        this.activeName = name;
        for (const element of this.pool) this.mark(element, element.place);
        this.point();
        if (!isQuiet) this.reveal(this.active);
    }

    reveal(place) {
        const { scroller } = this;
        const top = place * rowHeight;
        const least = top + rowHeight - scroller.clientHeight + this.head();
        if (top < scroller.scrollTop) scroller.scrollTop = top;
        else if (least > scroller.scrollTop) scroller.scrollTop = least;
    }

    // Column headers stay at the top of what scrolls.
    head() {
        return this.body.offsetTop;
    }

    press(event) {
        if (event.altKey || event.ctrlKey || event.metaKey || event.target !== this.scroller) return;
        const step = Math.max(1, Math.floor(this.scroller.clientHeight / rowHeight) - 2);
        const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: step, PageUp: -step, Home: -Infinity, End: Infinity };
        if (event.key in moves) {
            const from = this.active < 0 && moves[event.key] > 0 ? -1 : this.active;
            this.activate(Math.max(0, Math.min(this.count - 1, from + moves[event.key])));
        } else if (["Enter", " ", "ArrowLeft", "ArrowRight"].includes(event.key) && this.active >= 0) {
            this.act(event.key);
        } else {
            return;
        }
        event.preventDefault();
    }

    /** Does what a key means for the active row, once that is drawn: it may just have been moved to. */
    async act(key) {
        if (!this.activeRow()) {
            this.reveal(this.active);
            await this.update();
        }
        const row = this.activeRow();
        if (!row) return;
        if (key === "Enter" || key === " ") this.choose(row);
        else this.key(key, row);
    }

    click(event) {
        const element = event.target.closest("[role=row]");
        if (!element) return;
        this.activate(element.place, { isQuiet: true });
        const row = this.rowAt(element.place);
        if (!row) return;
        if (event.target.closest(".twist")) this.key("twist", row);
        else this.choose(row);
    }
}
