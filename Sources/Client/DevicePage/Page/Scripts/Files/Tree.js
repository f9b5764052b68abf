// The tree of an app's home, and the flat list of what its filter lets through.
"use strict";

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
    const fault = row.fault ? make("span", { class: "warning", role: "img", "aria-label": `: ${shown(row.fault)}`,
        title: shown(row.fault) }, " ⚠") : null;
    if (isFlat && place !== "") label.append(make("span", { class: "place" }, " — ", nameOf(place)));
    const made = make("span", { class: "name" }, twist, icon(kind), label, fault);
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
        this.heads = treeColumns.map(column => make(
            "div", { role: "columnheader", class: "column-" + column.key, "aria-sort": "none" },
            make("button", { type: "button", class: "sort", click: () => this.sort(column.key) }, column.title)));
        this.scroller.append(make("div", { role: "rowgroup", class: "head" },
            make("div", { role: "row", "aria-rowindex": "1" }, this.heads)));
        this.view = new RowView(this.scroller, {
            label: "file", fetch: (from, to, path) => this.rows(from, to, path),
            draw: (row, element) => this.draw(row, element), sign: row => this.sign(row), name: row => row.path,
            choose: row => page.choose(row.path), key: (key, row) => this.turn(key, row),
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

    async rows(from, to, path) {
        const none = { count: 0, from: 0, rows: [], place: -1 };
        const found = page.app === null ? none : await page.files.ask("rows", { from, to, path });
        if (found) setText(byID("hits"), this.isFlat ? counted(found.count, "hit") : "");
        return found;
    }

    sign(row) {
        const { path, level, size, protection, modified, siblings, place, isMarked, isLeftOut, isPurgeable,
            isExpanded } = row;
        return [path, level, size, protection, modified, siblings, place, isMarked, isLeftOut, isPurgeable, isExpanded,
            row.kind, row.fault, this.isFlat, path === page.chosenPath, page.isReadable(protection)].join("\0");
    }

    draw(row, element) {
        const { isFlat } = this;
        const isChosen = row.path === page.chosenPath;
        element.classList.add("row");
        element.classList.toggle("chosen", isChosen);
        element.setAttribute("aria-selected", String(isChosen));
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
            purgeable: row.isPurgeable
                ? make("span", { title: "It may be purged while no app that has it runs." }, "may go") : "",
            modified: Number.isFinite(row.modified) ? timeOf(row.modified, true) : "–",
        };
        const drawn = treeColumns.map(
            ({ key }) => make("div", { role: "gridcell", class: "column-" + key }, cells[key]));
        // In the row of another file nobody's click has begun.
        if (element.path === row.path) replace(element, drawn);
        else element.replaceChildren(...drawn);
        element.path = row.path;
    }

    /** Opens and closes directories, and moves between them and what they hold. */
    turn(key, row) {
        if (this.isFlat) return;
        const isOpen = row.isExpanded;
        if (key === "twist" && row.isDirectory || key === "ArrowRight" && row.isDirectory && !isOpen
            || key === "ArrowLeft" && isOpen) {
            this.expand(row.path, !isOpen);
        } else if (key === "ArrowRight" && isOpen) {
            this.view.activate(row.index + 1);
        } else if (key === "ArrowLeft" && row.level > 1) {
            const parent = row.path.slice(0, row.path.lastIndexOf("/"));
            page.files.ask("reveal", { path: parent }).then(
                found => found && this.view.activate(found.index, { name: parent }));
        }
    }

    async expand(path, isExpanded) {
        await page.files.ask("toggle", { path, isExpanded });
        await this.view.update();
    }

    /**
     * Shows a path in the tree, with the directories above it open; a filter that hides it is cleared. Returns whether
     * it is there.
     */
    async reveal(path) {
        let found = await page.files.ask("reveal", { path });
        if (found?.isThere && found.index < 0) {
            this.filter.value = "";
            await this.search();
            found = await page.files.ask("reveal", { path });
        }
        if (!found || found.index < 0) return false;
        this.view.stretch(found.count);
        this.view.activate(found.index, { name: path });
        await this.view.update();
        return true;
    }

    // MARK: Order

    /** Tells the worker which rows are shown, and in which order. */
    order() {
        const { sortKey: key, isDescending, filter } = this;
        return page.files.ask("order", { key, isDescending, text: filter.value });
    }

    async sort(key) {
        // Sizes and times are asked for from the largest and the last.
        const isFirst = key !== this.sortKey;
        this.isDescending = isFirst ? key !== "name" && key !== "protection" : !this.isDescending;
        this.sortKey = key;
        this.showOrder();
        await this.order();
        await this.view.update();
    }

    showOrder() {
        for (const head of this.heads) {
            const isKey = head.classList.contains("column-" + this.sortKey);
            head.setAttribute("aria-sort", !isKey ? "none" : this.isDescending ? "descending" : "ascending");
        }
    }

    async search() {
        await this.order();
        this.scroller.scrollTop = 0;
        this.view.activate(-1, { isQuiet: true });
        await this.view.update();
    }

    clear(event) {
        event.preventDefault();
        this.filter.value = "";
        this.search();
    }
}
