// The treemap of an app's home: by size, with class, exclusion and purgeability. Its text is the tree beside it.
"use strict";

const leastLabel = { width: 34, height: 14 };
const leastLetter = 11;

/** The colours of the style sheet, for a canvas. */
function mapColours() {
    const style = getComputedStyle(document.documentElement);
    const value = name => style.getPropertyValue(name).trim();
    return {
        tiles: classes.map((_, index) => value(`--class-${index}`)),
        texts: classes.map((_, index) => value(`--on-class-${index}`)),
        ground: value("--map-ground"), frame: value("--map-frame"), text: value("--text"), hatch: value("--map-hatch"),
        quiet: value("--quiet"), focus: value("--focus"),
    };
}

/** The facts of a tile in one line. */
function tileWords(map, index) {
    const kind = map.kinds[index];
    const parts = [shown(map.paths[index]), bytes(map.sizes[index])];
    if (kind === tileKinds.rest) parts[0] = `Small files in ${shown(map.paths[index]) || "the home"}`;
    if (kind === tileKinds.file || kind === tileKinds.rest) {
        const known = classes[map.classes[index]];
        parts.push(known.letter ? `class ${known.letter}: ${known.name}` : known.name);
        if (known.letter && !page.isReadable(map.classes[index])) parts.push("closed now");
    }
    parts.push(map.flags[index] & flag.leftOut ? "left out of backups" : "in backups");
    if (map.flags[index] & flag.purgeable) parts.push("may be purged");
    return parts.join(" · ");
}

class Treemap {
    constructor() {
        this.area = byID("map");
        this.trail = byID("map-trail");
        this.words = byID("map-words");
        this.canvas = this.area.appendChild(make("canvas", { "aria-hidden": "true" }));
        this.path = "";
        this.active = -1;
        this.colours = mapColours();
        matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
            this.colours = mapColours();
            this.draw();
        });
        new ResizeObserver(() => this.schedule()).observe(this.area);
        this.area.addEventListener("pointermove", event => this.point(this.tileAt(event)));
        this.area.addEventListener("pointerleave", () => this.point(-1));
        this.area.addEventListener("click", event => this.open(this.tileAt(event)));
        this.area.addEventListener("keydown", event => this.press(event));
        this.area.addEventListener("focus", () => this.point(this.leaf(this.active)));
        this.area.addEventListener("blur", () => this.point(-1));
    }

    leaf(index) {
        if (this.map && index >= 0 && this.map.kinds[index] !== tileKinds.framed) return index;
        return this.map ? this.map.kinds.findIndex(kind => kind !== tileKinds.framed) : -1;
    }

    schedule() {
        this.isScheduled ??= requestAnimationFrame(() => {
            this.isScheduled = undefined;
            this.update();
        });
    }

    /** Has the map laid out anew for the model as it is. */
    async update() {
        if (this.isBusy) {
            this.isStale = true;
            return;
        }
        this.isBusy = true;
        do {
            this.isStale = false;
            const { clientWidth: width, clientHeight: height } = this.area;
            if (width < 20 || height < 20) break;
            const map = await page.files.ask("map", { path: this.path, width, height });
            if (map === null && this.path !== "") {
                this.path = "";
                this.isStale = true;
            } else {
                this.show(map, width, height);
            }
        } while (this.isStale);
        this.isBusy = false;
    }

    show(map, width, height) {
        const before = this.map;
        const isSame = index => map.paths[index] === before.paths[this.active]
            && map.kinds[index] === before.kinds[this.active];
        this.active = map && before && this.active >= 0 ? map.paths.findIndex((_, index) => isSame(index)) : -1;
        this.map = map;
        this.size = { width, height };
        this.tell();
        this.draw();
        this.showTrail();
    }

    // MARK: Drawing

    hatch(context) {
        const tile = document.createElement("canvas");
        tile.width = tile.height = 8;
        const pen = tile.getContext("2d");
        pen.strokeStyle = this.colours.hatch;
        pen.lineWidth = 2;
        for (const from of [-8, 0, 8]) {
            pen.moveTo(from, 8);
            pen.lineTo(from + 8, 0);
        }
        pen.stroke();
        return context.createPattern(tile, "repeat");
    }

    draw() {
        const { map, size, colours } = this;
        if (!size) return;
        const scale = devicePixelRatio;
        this.canvas.width = Math.round(size.width * scale);
        this.canvas.height = Math.round(size.height * scale);
        const context = this.canvas.getContext("2d");
        context.scale(scale, scale);
        const { fontSize, fontFamily } = getComputedStyle(this.area);
        context.font = `${fontSize} ${fontFamily}`;
        context.textBaseline = "middle";
        context.fillStyle = colours.ground;
        context.fillRect(0, 0, size.width, size.height);
        if (!map || map.entries.length === 0) {
            context.fillStyle = colours.quiet;
            const isKnown = map && (page.mode === "report" || page.isComplete);
            const words = isKnown ? "Nothing in here takes space." : "The files are being listed …";
            context.fillText(page.app === null ? "" : words, 12, 20);
            return;
        }
        const pattern = this.hatch(context);
        for (let index = 0; index < map.entries.length; index += 1) this.drawTile(context, index, pattern);
        this.drawMark(context, map.paths.indexOf(page.chosenPath), colours.text);
        this.drawMark(context, this.active, colours.focus);
    }

    box(index) {
        const [left, top, width, height] = this.map.boxes.subarray(index * 4, index * 4 + 4);
        return { left, top, width, height };
    }

    drawTile(context, index, pattern) {
        const { map, colours } = this;
        const { left, top, width, height } = this.box(index);
        const kind = map.kinds[index];
        const gap = Math.min(width, height) > 6 ? 1 : 0.5;
        const inside = [left, top, Math.max(0.5, width - gap), Math.max(0.5, height - gap)];
        if (kind === tileKinds.framed) {
            context.fillStyle = colours.frame;
            context.fillRect(...inside);
            const place = { left: left + 4, middle: top + 8, room: width - 8 };
            if (map.names[index]) this.write(context, map.names[index], place, colours.text);
            return;
        }
        context.fillStyle = colours.tiles[map.classes[index]];
        context.fillRect(...inside);
        if (kind === tileKinds.rest) this.grain(context, inside);
        if (map.flags[index] & flag.leftOut) {
            context.fillStyle = pattern;
            context.fillRect(...inside);
        }
        const ink = colours.texts[map.classes[index]];
        if (map.flags[index] & flag.purgeable && Math.min(width, height) > 9) {
            context.strokeStyle = ink;
            context.setLineDash([3, 3]);
            context.strokeRect(left + 2.5, top + 2.5, width - gap - 5, height - gap - 5);
            context.setLineDash([]);
        }
        this.label(context, index, ink);
    }

    /** Fine lines: many small files together. */
    grain(context, [left, top, width, height]) {
        context.fillStyle = this.colours.ground;
        context.globalAlpha = 0.45;
        for (let x = left + 3; x < left + width; x += 4) context.fillRect(x, top, 0.7, height);
        for (let y = top + 3; y < top + height; y += 4) context.fillRect(left, y, width, 0.7);
        context.globalAlpha = 1;
    }

    label(context, index, ink) {
        const { map } = this;
        const { left, top, width, height } = this.box(index);
        const hasClass = map.kinds[index] !== tileKinds.closed;
        const letter = hasClass ? classes[map.classes[index]].letter : "";
        if (width < leastLetter || height < leastLetter) return;
        const isWide = width >= leastLabel.width && height >= leastLabel.height;
        const room = isWide && letter ? width - 24 : width - 10;
        if (isWide) this.write(context, map.names[index],
            { left: left + 5, middle: top + Math.min(10, height / 2), room }, ink, index);
        if (letter) {
            context.textAlign = isWide ? "right" : "center";
            const at = isWide ? left + width - 6 : left + width / 2;
            this.ground(context, index, at - (isWide ? 8 : 5), top + (isWide ? 4 : height / 2 - 6), 10);
            context.fillStyle = ink;
            context.fillText(letter, at, top + (isWide ? Math.min(10, height / 2) : height / 2));
            context.textAlign = "left";
        }
    }

    // Text over hatching keeps the contrast of the plain colour.
    ground(context, index, left, top, width) {
        const { map } = this;
        if (!(map.flags[index] & flag.leftOut) && map.kinds[index] !== tileKinds.rest) return;
        context.fillStyle = this.colours.tiles[map.classes[index]];
        context.fillRect(left - 1, top, width + 2, 13);
    }

    write(context, name, { left, middle, room }, ink, index = -1) {
        let text = shown(name);
        if (context.measureText(text).width > room) {
            text = text.slice(0, Math.max(1, Math.floor(room / 5)));
            while (text.length > 1 && context.measureText(text + "…").width > room) text = text.slice(0, -1);
            if (text.length < 2) return;
            text += "…";
        }
        if (index >= 0) this.ground(context, index, left, middle - 7, context.measureText(text).width);
        context.fillStyle = ink;
        context.fillText(text, left, middle);
    }

    drawMark(context, index, colour) {
        if (index < 0) return;
        const { left, top, width, height } = this.box(index);
        context.lineWidth = 4;
        context.strokeStyle = this.colours.ground;
        context.strokeRect(left + 1, top + 1, width - 3, height - 3);
        context.lineWidth = 2;
        context.strokeStyle = colour;
        context.strokeRect(left + 1, top + 1, width - 3, height - 3);
        context.lineWidth = 1;
    }

    // MARK: Pointing

    /** The innermost tile at a place: tiles come after those that they lie in. */
    tileAt({ clientX, clientY }) {
        if (!this.map) return -1;
        const frame = this.area.getBoundingClientRect();
        const [x, y] = [clientX - frame.left, clientY - frame.top];
        for (let index = this.map.entries.length - 1; index >= 0; index -= 1) {
            const { left, top, width, height } = this.box(index);
            if (x >= left && x < left + width && y >= top && y < top + height) return index;
        }
        return -1;
    }

    point(index) {
        if (index === this.active) return;
        this.active = index;
        this.tell();
        this.schedulePaint();
    }

    /** Puts the active tile in words, or the whole. */
    tell() {
        setText(this.words, this.active >= 0 && this.map ? tileWords(this.map, this.active) : this.summary());
    }

    schedulePaint() {
        this.isPainting ??= requestAnimationFrame(() => {
            this.isPainting = undefined;
            this.draw();
        });
    }

    summary() {
        if (!this.map) return "";
        return `${bytes(this.map.size)} in ${counted(this.map.files, "file")}`;
    }

    open(index) {
        if (index < 0 || !this.map) return;
        const path = this.map.paths[index];
        if (this.map.kinds[index] === tileKinds.file) page.choose(path, true);
        else if (path !== this.path) this.enter(path);
    }

    enter(path) {
        this.path = path;
        this.active = -1;
        this.update();
    }

    press(event) {
        if (!this.map || event.altKey || event.ctrlKey || event.metaKey) return;
        const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
        if (moves[event.key]) this.point(this.neighbour(...moves[event.key]));
        else if (event.key === "Enter" || event.key === " ") this.open(this.active);
        else if (event.key === "+" || event.key === "PageDown") this.enterTowards();
        else if ((event.key === "-" || event.key === "PageUp" || event.key === "Escape")
            && this.path !== "") this.leave();
        else return;
        event.preventDefault();
    }

    leave() {
        this.enter(this.path.includes("/") ? this.path.slice(0, this.path.lastIndexOf("/")) : "");
    }

    /** Enters the directory below the shown one in which the active tile lies. */
    enterTowards() {
        if (this.active < 0) return;
        const below = this.map.paths[this.active].slice(this.path === "" ? 0 : this.path.length + 1);
        if (!below.includes("/")) return;
        this.enter((this.path === "" ? "" : this.path + "/") + below.slice(0, below.indexOf("/")));
    }

    /** The nearest tile in a direction. */
    neighbour(right, down) {
        const middle = index => {
            const { left, top, width, height } = this.box(index);
            return [left + width / 2, top + height / 2];
        };
        const from = this.leaf(this.active);
        const [x, y] = middle(from);
        let best = from;
        let least = Infinity;
        for (let index = 0; index < this.map.entries.length; index += 1) {
            if (index === from || this.map.kinds[index] === tileKinds.framed) continue;
            const [otherX, otherY] = middle(index);
            const along = (otherX - x) * right + (otherY - y) * down;
            const across = Math.abs((otherX - x) * down) + Math.abs((otherY - y) * right);
            if (along <= 0.5) continue;
            const distance = along + across * 2.5;
            if (distance < least) [best, least] = [index, distance];
        }
        return best;
    }

    showTrail() {
        const names = this.path === "" ? [] : this.path.split("/");
        const root = page.homeName();
        const steps = [[root, ""], ...names.map((name, index) => [name, names.slice(0, index + 1).join("/")])];
        replace(this.trail, steps.map(([name, path], index) => [
            index > 0 ? make("span", { class: "slash" }, "/") : null,
            make("button", {
                type: "button", class: "step", "data-path": path, click: () => this.enter(path),
                "aria-current": index === steps.length - 1 ? "location" : null,
            }, nameOf(name)),
        ]));
    }
}

/** The legend of the classes, whose bytes it tells; on the live page it filters the tree. */
function showLegend(place, sums) {
    const parts = classes.slice(1).map((known, index) => ({
        badge: classBadge(index + 1), name: known.name, text: known.short, size: sums?.classes[index + 1],
        filter: `class:${known.letter.toLowerCase()}`, closed: !page.isReadable(index + 1),
    }));
    parts.push({ badge: make("span", { class: "swatch left-out" }), text: "Left out", name: "Left out of backups",
        size: sums?.leftOut, filter: "is:excluded" });
    parts.push({ badge: make("span", { class: "swatch going" }), text: "Purgeable",
        name: "May be purged while no app that has it runs", size: sums?.purgeable, filter: "is:purgeable" });
    parts.push({ badge: classBadge(0), text: "Not encrypted", size: sums?.classes[0] });
    replace(place, parts.map(part => make("li", {}, legendEntry(part))));
}

function legendEntry({ badge, name, text, size, filter, closed }) {
    const words = [badge, make("span", {}, text), closed ? make("span", { class: "closed", title: "closed now" },
        icon("lock"), make("span", { class: "unseen" }, "closed now")) : null,
    make("span", { class: "amount" }, size === undefined ? "" : bytes(size))];
    // In a report there is nothing to filter.
    if (page.mode === "report" || !filter) return make("span", { class: "legend-entry", title: name ?? null }, words);
    return make("button", { type: "button", class: "legend-entry", title: `${name}: filter by ${filter}`,
        "data-filter": filter, click: () => page.filterBy(filter) }, words);
}
