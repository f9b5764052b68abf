// The rectangles of a treemap: squarified (Bruls, Huizing and van Wijk, 2000), with headers only where there is room.
"use strict";

const headerHeight = 16;
// Less than this, and a header would take what it is about.
const leastWithHeader = { width: 64, height: 52 };
const leastInside = 10;
/** Square pixels of the smallest tile of its own. */
const leastArea = 20;
const mostTiles = 6000;
const tileKinds = { file: 0, framed: 1, closed: 2, rest: 3 };

/** The tiles of one layout, in columns: five numbers for each, and its text. */
class TileList {
    constructor() {
        this.boxes = [];
        this.entries = [];
        this.kinds = [];
        this.levels = [];
        this.names = [];
        /** Of tiles of small entries: their bytes and their class, by the tile's number. */
        this.rests = new Map();
    }

    add(entry, kind, box, level, name) {
        this.entries.push(entry);
        this.kinds.push(kind);
        this.levels.push(level);
        this.names.push(name);
        this.boxes.push(box.left, box.top, box.width, box.height);
    }

    addRest(directory, box, level, rest) {
        this.rests.set(this.entries.length, rest);
        this.add(directory, tileKinds.rest, box, level, "small files");
    }
}

/**
 * Places weights that fall in a box, along its shorter side row by row, as long as the worst ratio of a row falls.
 * Calls `place` with the index of each and its box.
 */
function squarify(weights, box, place) {
    const total = weights.reduce((sum, one) => sum + one, 0);
    if (total <= 0 || box.width < 1 || box.height < 1) return;
    const scale = box.width * box.height / total;
    let { left, top, width, height } = box;
    let first = 0;
    while (first < weights.length) {
        const side = Math.min(width, height);
        let end = first;
        let sum = 0;
        let worst = Infinity;
        while (end < weights.length) {
            const area = sum + weights[end] * scale;
            const square = area * area / (side * side);
            // Weights fall, so that the first and the last of a row have its worst ratios.
            const ratio = Math.max(weights[first] * scale / square, square / (weights[end] * scale));
            if (ratio > worst) break;
            worst = ratio;
            sum = area;
            end += 1;
        }
        const depth = sum / side;
        let along = 0;
        for (let index = first; index < end; index += 1) {
            const share = weights[index] * scale / depth;
            if (width >= height) place(index, { left, top: top + along, width: depth, height: share });
            else place(index, { left: left + along, top, width: share, height: depth });
            along += share;
        }
        if (width >= height) { left += depth; width -= depth; } else { top += depth; height -= depth; }
        first = end;
    }
}

/** Follows directories that hold nothing but one directory: they share a header. */
function onlyChain(model, list, entry) {
    const names = [model.names[entry]];
    let last = entry;
    for (;;) {
        const inside = list.largest(last);
        if (inside.length === 0 || !model.isDirectory(inside[0])) break;
        if (model.columns.total[inside[0]] < model.columns.total[last]) break;
        last = inside[0];
        names.push(model.names[last]);
    }
    return { last, name: names.join("/") };
}

/** The bytes of entries by class, with all that lies in them. */
function heldBytes(model, entries, held) {
    for (const entry of entries) {
        if (model.isDirectory(entry)) heldBytes(model, model.children[entry], held);
        else held[model.columns.protection[entry]] += model.columns.size[entry];
    }
    return held;
}

/** Lays the entries of a directory. Those that are too small share a tile with their like: no class goes unseen. */
function layDirectory(state, tiles, directory, box, level) {
    const { model, list } = state;
    const all = list.largest(directory);
    const total = model.columns.total[directory];
    const area = box.width * box.height;
    let shownCount = 0;
    while (shownCount < all.length && tiles.entries.length + shownCount < mostTiles) {
        const size = weight(model, all[shownCount]);
        if (size <= 0 || size / total * area < leastArea) break;
        shownCount += 1;
    }
    const parts = Array.from(all.subarray(0, shownCount), entry => ({ entry, size: weight(model, entry) }));
    heldBytes(model, all.subarray(shownCount), [0, 0, 0, 0, 0]).forEach((size, number) => {
        if (size / total * area >= 1) parts.push({ entry: -1, size, number });
    });
    // The sum of what is small may be larger than what is large, and squares want falling weights.
    parts.sort((left, right) => right.size - left.size);
    squarify(parts.map(part => part.size), box, (index, place) => {
        const { entry, size, number } = parts[index];
        if (entry >= 0) layEntry(state, tiles, entry, place, level);
        else tiles.addRest(directory, place, level, { size, number });
    });
}

function layEntry(state, tiles, entry, box, level) {
    const { model, list } = state;
    if (!model.isDirectory(entry)) {
        tiles.add(entry, tileKinds.file, box, level, model.names[entry]);
        return;
    }
    const { last, name } = onlyChain(model, list, entry);
    const hasHeader = box.width >= leastWithHeader.width && box.height >= leastWithHeader.height;
    const edge = hasHeader ? 2 : 1;
    const top = hasHeader ? headerHeight : 1;
    const inner = {
        left: box.left + edge, top: box.top + top, width: box.width - 2 * edge, height: box.height - top - edge,
    };
    if (Math.min(inner.width, inner.height) < leastInside) {
        tiles.add(entry, tileKinds.closed, box, level, name);
        return;
    }
    tiles.add(last, tileKinds.framed, box, level, hasHeader ? name : "");
    layDirectory(state, tiles, last, inner, level + 1);
}

/** The class that most bytes of a directory have: the colour of a directory that is too small to open. */
function mainClass(model, directory) {
    const held = heldBytes(model, [directory], [0, 0, 0, 0, 0]);
    return held.indexOf(Math.max(...held));
}

/** The treemap of a directory, in columns that can be handed from the worker to the page. */
function mapLayout(state, { path, width, height }) {
    const { model } = state;
    const root = path === "" ? 0 : model.directories.get(path);
    if (root === undefined) return null;
    const tiles = new TileList();
    if (model.columns.total[root] > 0) layDirectory(state, tiles, root, { left: 0, top: 0, width, height }, 1);
    const count = tiles.entries.length;
    const found = {
        path, size: model.columns.total[root], files: model.columns.files[root],
        boxes: Float32Array.from(tiles.boxes), entries: Int32Array.from(tiles.entries),
        kinds: Uint8Array.from(tiles.kinds), levels: Uint8Array.from(tiles.levels), names: tiles.names,
        classes: new Uint8Array(count), flags: new Uint8Array(count), paths: [], sizes: new Float64Array(count),
    };
    for (let index = 0; index < count; index += 1) {
        const entry = tiles.entries[index];
        const kind = tiles.kinds[index];
        const rest = tiles.rests.get(index);
        found.classes[index] = rest ? rest.number : kind === tileKinds.file ? model.columns.protection[entry]
            : kind === tileKinds.closed ? mainClass(model, entry) : 0;
        found.flags[index] = model.columns.flags[entry];
        found.sizes[index] = rest ? rest.size : weight(model, entry);
        found.paths.push(model.path(entry));
    }
    return found;
}
