// Lists of which only what is visible is drawn, and the tree of an app's home in one.
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
     * `fetch(from, to)` returns a promise of { count, from, rows }; `draw(row, element)` fills a row's element, and
     * `sign(row)` is the same for rows that look the same.
     */
    constructor(scroller, { fetch, draw, sign, choose, key, label }) {
        Object.assign(this, { scroller, fetch, draw, sign, choose, key, label });
        this.count = 0;
        this.active = -1;
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
    async update() {
        if (this.isBusy) {
            this.isStale = true;
            return;
        }
        this.isBusy = true;
        do {
            this.isStale = false;
            const { from, to } = this.range();
            const answer = await this.fetch(from, to);
            if (answer) this.show(answer);
        } while (this.isStale);
        this.isBusy = false;
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
            if (element.signature === signature) return;
            element.signature = signature;
            this.draw(row, element);
            this.mark(element, place);
        });
        for (const element of free) {
            element.hidden = true;
            element.place = -1;
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
        element.setAttribute("aria-selected", String(place === this.active));
    }

    point() {
        const isDrawn = this.active >= this.from && this.active < this.from + this.rows.length;
        if (isDrawn) this.scroller.setAttribute("aria-activedescendant", `${this.label}-${this.active}`);
        else this.scroller.removeAttribute("aria-activedescendant");
    }

    rowAt(place) {
        return this.rows[place - this.from];
    }

    activate(place, isQuiet) {
        this.active = Math.max(-1, Math.min(place, this.count - 1));
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
        const row = this.rowAt(this.active);
        if (event.key in moves) {
            const from = this.active < 0 && moves[event.key] > 0 ? -1 : this.active;
            this.activate(Math.max(0, Math.min(this.count - 1, from + moves[event.key])));
        } else if ((event.key === "Enter" || event.key === " ") && row) {
            this.choose(row);
        } else if (!row || !this.key?.(event.key, row)) {
            return;
        }
        event.preventDefault();
    }

    click(event) {
        const element = event.target.closest("[role=row]");
        if (!element) return;
        const { place } = element;
        this.activate(place, true);
        const row = this.rowAt(place);
        if (!row) return;
        if (event.target.closest(".twist")) this.key("twist", row);
        else this.choose(row);
    }
}

// MARK: The tree

const treeColumns = [
    { key: "name", title: "Name" }, { key: "size", title: "Size" }, { key: "protection", title: "Class" },
    { key: "backup", title: "Backup" }, { key: "purgeable", title: "Purge" }, { key: "modified", title: "Modified" },
];

function rowName(row, isFlat) {
    const twist = row.isDirectory && !isFlat
        ? make("span", { class: row.isExpanded ? "twist open" : "twist", "aria-hidden": "true" }, icon("chevron"))
        : make("span", { class: "twist none" });
    const kind = row.isDirectory ? "folder" : row.kind === "rest" ? "group" : row.kind;
    const place = row.path.slice(0, row.path.length - row.name.length - 1);
    const label = make("span", { class: "label", title: shown(row.path) }, nameOf(row.name));
    if (isFlat && place !== "") label.append(make("span", { class: "place" }, " — ", nameOf(place)));
    const made = make("span", { class: "name" }, twist, icon(kind), label);
    made.style.setProperty("--level", isFlat ? 0 : Math.min(row.level - 1, 24));
    return made;
}

function backupWord(row) {
    if (!row.isLeftOut) return make("span", { title: "A backup has it." }, "in");
    const why = row.isMarked ? "excluded itself" : "excluded by a directory above it";
    return make("span", { class: "out", title: `Left out of backups: ${why}.` }, row.isMarked ? "out" : "out ↑");
}

/** The tree of the chosen app's home, or the flat list of what its filter lets through. */
class Tree {
    constructor() {
        this.scroller = byID("tree");
        this.filter = byID("filter");
        this.isDescending = false;
        this.sortKey = "name";
        this.heads = treeColumns.filter(column => page.mode === "live" || column.key !== "modified").map(column => make(
            "div", { role: "columnheader", class: "column-" + column.key, "aria-sort": "none" },
            make("button", { type: "button", class: "sort", click: () => this.sort(column.key) },
                column.title)));
        this.scroller.append(make("div", { role: "rowgroup", class: "head" },
            make("div", { role: "row", "aria-rowindex": "1" }, this.heads)));
        this.view = new RowView(this.scroller, {
            label: "file", fetch: (from, to) => page.files.ask("rows", { from, to }),
            draw: (row, element) => this.draw(row, element), sign: row => this.sign(row),
            choose: row => this.choose(row),
            key: (key, row) => this.turn(key, row),
        });
        let later;
        this.filter.addEventListener("input", () => {
            clearTimeout(later);
            later = setTimeout(() => this.search(), 120);
        });
        this.filter.addEventListener("keydown", event => {
            if (event.key === "ArrowDown") this.scroller.focus();
            if (event.key === "Escape" && this.filter.value !== "") this.clear(event);
        });
        this.showOrder();
    }

    get isFlat() {
        return this.filter.value.trim() !== "";
    }

    sign(row) {
        const { path, level, size, protection, modified, siblings, place, isMarked, isLeftOut, isPurgeable,
            isExpanded } = row;
        return [path, level, size, protection, modified, siblings, place, isMarked, isLeftOut, isPurgeable, isExpanded,
            row.kind, this.isFlat, path === page.chosenPath, page.isReadable(protection)].join("\0");
    }

    draw(row, element) {
        const { isFlat } = this;
        element.className = row.path === page.chosenPath ? "row chosen" : "row";
        if (isFlat) element.removeAttribute("aria-level");
        else element.setAttribute("aria-level", row.level);
        if (row.isDirectory && !isFlat) element.setAttribute("aria-expanded", String(row.isExpanded));
        else element.removeAttribute("aria-expanded");
        for (const [name, value] of [["aria-setsize", row.siblings], ["aria-posinset", row.place]]) {
            if (value === undefined) element.removeAttribute(name);
            else element.setAttribute(name, value);
        }
        const closed = row.protection > 0 && !page.isReadable(row.protection);
        const cells = {
            name: rowName(row, isFlat), size: bytes(row.size),
            protection: [classBadge(row.protection, closed ? ", closed now" : ""),
                closed && !row.isDirectory ? make("span", { class: "closed-mark" }, icon("lock")) : null],
                    backup: backupWord(row),
            purgeable: row.isPurgeable ? make("span", { title: "It may be purged while no app that has it runs." },
                "may go")
                : "",
            modified: Number.isFinite(row.modified) ? timeOf(row.modified, true) : "–",
        };
        element.replaceChildren(...treeColumns.filter(({ key }) => page.mode === "live" || key !== "modified").map(
            ({ key }) => make("div", { role: "gridcell", class: "column-" + key }, cells[key])));
    }

    choose(row) {
        page.choose(row.path);
        this.view.update();
    }

    /** Opens and closes directories, and moves between them and what they hold. */
    turn(key, row) {
        const isOpen = row.isExpanded;
        if (this.isFlat) return false;
        if (!row.isDirectory && key === "twist") return false;
        if (key === "twist" || key === "ArrowRight" && row.isDirectory && !isOpen || key === "ArrowLeft" && isOpen) {
            this.expand(row, !isOpen);
        } else if (key === "ArrowRight" && isOpen) {
            this.view.activate(row.index + 1);
        } else if (key === "ArrowLeft" && row.level > 1) {
            const parent = row.path.slice(0, row.path.lastIndexOf("/"));
            page.files.ask("reveal", { path: parent }).then(found => found && this.view.activate(found.index));
        } else {
            return false;
        }
        return true;
    }

    async expand(row, isExpanded) {
        await page.files.ask("toggle", { entry: row.entry, isExpanded });
        await this.view.update();
    }

    /** Shows a path in the tree, with the directories above it open. */
    async reveal(path) {
        let found = await page.files.ask("reveal", { path });
        if (found?.index === -1 && this.isFlat) {
            this.filter.value = "";
            await this.search();
            found = await page.files.ask("reveal", { path });
        }
        if (!found || found.index < 0) return false;
        this.view.stretch(found.count);
        this.view.activate(found.index);
        await this.view.update();
        return true;
    }

    // MARK: Order

    async sort(key) {
        // Sizes and times are asked for from the largest and the last.
        const isFirst = key !== this.sortKey;
        this.isDescending = isFirst ? key !== "name" && key !== "protection" : !this.isDescending;
        this.sortKey = key;
        this.showOrder();
        await page.files.ask("order", { key, isDescending: this.isDescending });
        await this.view.update();
    }

    showOrder() {
        for (const head of this.heads) {
            const isKey = head.classList.contains("column-" + this.sortKey);
            head.setAttribute("aria-sort", !isKey ? "none" : this.isDescending ? "descending" : "ascending");
        }
    }

    async search() {
        const { count } = await page.files.ask("order", { text: this.filter.value }) ?? { count: 0 };
        this.scroller.scrollTop = 0;
        this.view.activate(-1, true);
        setText(byID("hits"), this.isFlat ? counted(count, "hit") : "");
        await this.view.update();
    }

    clear(event) {
        event.preventDefault();
        this.filter.value = "";
        this.search();
    }
}
