// The rows of a model that a tree shows: sorted, opened, or those that a filter lets through; and answers about them.
"use strict";

const orders = {
    name: (model, left, right) => model.names[left] < model.names[right] ? -1 : 1,
    size: (model, left, right) => weight(model, left) - weight(model, right),
    protection: (model, left, right) => model.columns.protection[left] - model.columns.protection[right],
    backup: (model, left, right) =>
        (model.columns.flags[left] & flag.leftOut) - (model.columns.flags[right] & flag.leftOut),
    purgeable: (model, left, right) =>
        (model.columns.flags[left] & flag.purgeable) - (model.columns.flags[right] & flag.purgeable),
    // A time that is not known is the earliest.
    modified: (model, left, right) => (model.columns.modified[left] || 0) - (model.columns.modified[right] || 0),
};

/** A text as a filter compares it: in small letters, and accents in one of the two forms in which names have them. */
function folded(text) {
    return text.normalize("NFC").toLowerCase();
}

/** The bytes of a file, or of all files in a directory. */
function weight(model, entry) {
    return model.isDirectory(entry) ? model.columns.total[entry] : model.columns.size[entry];
}

/** The conditions of a filter: words that are in the path, and `class:a`, `is:excluded`, `is:purgeable`, `is:file`. */
function parseFilter(text) {
    const conditions = { words: [], classes: [], bits: 0, kind: -1 };
    for (const word of folded(text).split(/\s+/).filter(word => word !== "")) {
        const [key, value] = word.split(":");
        const letter = "abcd".indexOf(value) + 1;
        if (key === "class" && value?.length === 1 && letter > 0) conditions.classes.push(letter);
        else if (word === "is:excluded") conditions.bits |= flag.leftOut;
        else if (word === "is:purgeable") conditions.bits |= flag.purgeable;
        else if (word === "is:file") conditions.kind = 0;
        else if (word === "is:directory") conditions.kind = directoryKind;
        else conditions.words.push(word);
    }
    return conditions;
}

class RowList {
    constructor(model) {
        this.model = model;
        this.key = "name";
        this.isDescending = false;
        this.text = "";
        this.rows = new Int32Array(0);
        this.levels = new Uint8Array(0);
        this.version = -1;
        this.sorted = new Map();
        this.bySize = new Map();
    }

    /** Rows that hold for the model as it is now. */
    refresh() {
        if (this.version === this.model.version) return;
        this.sorted.clear();
        this.bySize.clear();
        this.version = this.model.version;
        if (this.text === "") this.flatten();
        else this.search();
    }

    invalidate() {
        this.version = -1;
    }

    compare(left, right) {
        const difference = orders[this.key](this.model, left, right);
        const signed = this.isDescending ? -difference : difference;
        // Names make the order one.
        return signed || (this.model.names[left] < this.model.names[right] ? -1 : 1);
    }

    childrenOf(directory) {
        const known = this.sorted.get(directory);
        if (known) return known;
        const list = Int32Array.from(this.model.children[directory]);
        list.sort((left, right) => this.compare(left, right));
        this.sorted.set(directory, list);
        return list;
    }

    /** The children of a directory, the largest first. */
    largest(directory) {
        const known = this.bySize.get(directory);
        if (known) return known;
        const list = Int32Array.from(this.model.children[directory]);
        list.sort((left, right) => weight(this.model, right) - weight(this.model, left) || left - right);
        this.bySize.set(directory, list);
        return list;
    }

    flatten() {
        const rows = new Int32Array(this.model.entries);
        const levels = new Uint8Array(this.model.entries);
        let count = 0;
        const visit = (directory, level) => {
            for (const child of this.childrenOf(directory)) {
                rows[count] = child;
                levels[count] = Math.min(level, 255);
                count += 1;
                if (this.model.isDirectory(child) && this.model.has(child, flag.expanded)) visit(child, level + 1);
            }
        };
        visit(0, 1);
        this.rows = rows.subarray(0, count);
        this.levels = levels;
    }

    search() {
        const { model } = this;
        const { words, classes: letters, bits, kind } = parseFilter(this.text);
        const found = [];
        const visit = (directory, prefix) => {
            for (const child of model.children[directory]) {
                const path = prefix + folded(model.names[child]);
                const isDirectory = model.isDirectory(child);
                if ((model.columns.flags[child] & bits) === bits && words.every(word => path.includes(word))
                    && (letters.length === 0 || !isDirectory && letters.includes(model.columns.protection[child]))
                    && (kind < 0 || (kind === directoryKind) === isDirectory)) found.push(child);
                if (isDirectory) visit(child, path + "/");
            }
        };
        visit(0, "");
        this.rows = Int32Array.from(found).sort((left, right) => this.compare(left, right));
        this.levels = new Uint8Array(0);
    }

    /** One row for the page. */
    row(entry, index) {
        const { model } = this;
        const { columns } = model;
        const parent = columns.parent[entry];
        const siblings = this.text === "" ? this.childrenOf(parent) : null;
        const row = {
            index, name: model.names[entry], kind: kinds[columns.kind[entry]], size: weight(model, entry),
            protection: columns.protection[entry], modified: columns.modified[entry], level: this.levels[index] || 1,
            isMarked: model.has(entry, flag.marked), isLeftOut: model.has(entry, flag.leftOut),
            isPurgeable: model.has(entry, flag.purgeable), files: columns.files[entry],
            isExpanded: this.text === "" && model.has(entry, flag.expanded),
            isDirectory: model.isDirectory(entry), path: model.path(entry), fault: model.faults.get(entry),
        };
        if (siblings) {
            row.siblings = siblings.length;
            row.place = siblings.indexOf(entry) + 1;
        }
        return row;
    }
}

/** The questions of the page about a model, by name. Both the worker and a report answer them with this. */
const answers = {
    /** The rows of a range, and the place of the one of a path, which is -1 where it is not among them. */
    rows({ model, list }, { from, to, path }) {
        list.refresh();
        const end = Math.min(to, list.rows.length);
        const rows = [];
        for (let index = Math.max(0, from); index < end; index += 1) rows.push(list.row(list.rows[index], index));
        const entry = path === undefined ? -1 : model.find(path);
        return { count: list.rows.length, from: Math.max(0, from), rows,
            place: entry < 0 ? -1 : list.rows.indexOf(entry) };
    },

    order({ list }, { key, isDescending, text }) {
        list.key = key ?? list.key;
        list.isDescending = isDescending ?? list.isDescending;
        list.text = (text ?? list.text).trim();
        list.invalidate();
        list.refresh();
        return { count: list.rows.length };
    },

    toggle({ model, list }, { path, isExpanded }) {
        const entry = model.directories.get(path);
        if (entry === undefined) return;
        if (isExpanded) model.columns.flags[entry] |= flag.expanded;
        else model.columns.flags[entry] &= ~flag.expanded;
        list.refresh();
        if (list.text === "") list.flatten();
    },

    /**
     * Opens the directories above a path. The index is -1 where the filter does not let it through, and where it is not
     * there, which `isThere` tells.
     */
    reveal({ model, list }, { path }) {
        const entry = model.find(path);
        if (entry <= 0) return { index: -1, isThere: false };
        for (let at = model.columns.parent[entry]; at > 0; at = model.columns.parent[at]) {
            model.columns.flags[at] |= flag.expanded;
        }
        list.invalidate();
        list.refresh();
        const index = list.rows.indexOf(entry);
        return { index, count: list.rows.length, isThere: true };
    },

    facts({ model, list }, { path }) {
        const entry = path === "" ? 0 : model.find(path);
        if (entry < 0) return null;
        const excluder = model.excluder(entry);
        return {
            path, name: model.names[entry], kind: kinds[model.columns.kind[entry]], size: weight(model, entry),
            files: model.columns.files[entry], purgeableSize: model.columns.purgeable[entry],
            leftOutSize: model.columns.leftOut[entry], stored: model.columns.stored[entry],
            mode: model.columns.mode[entry].toString(8), links: model.columns.links[entry],
            modified: model.columns.modified[entry], protection: model.columns.protection[entry],
            isMarked: model.has(entry, flag.marked), isLeftOut: model.has(entry, flag.leftOut),
            isPurgeable: model.has(entry, flag.purgeable), isDirectory: model.isDirectory(entry),
            excluder: excluder < 0 ? null : model.path(excluder), target: model.targets.get(entry) ?? null,
            fault: model.faults.get(entry) ?? null,
            version: list.version,
        };
    },

    sums({ model }) {
        const held = [0, 0, 0, 0, 0];
        for (let entry = 1; entry < model.names.length; entry += 1) {
            if (model.has(entry, flag.live) && !model.isDirectory(entry)) {
                held[model.columns.protection[entry]] += model.columns.size[entry];
            }
        }
        return {
            size: model.columns.total[0], files: model.columns.files[0], purgeable: model.columns.purgeable[0],
            leftOut: model.columns.leftOut[0], entries: model.entries, classes: held,
        };
    },

    /** The directories down to a depth, with their sums. */
    directories({ model, list }, { depth }) {
        const found = [];
        const visit = (directory, level) => {
            for (const child of list.largest(directory)) {
                if (!model.isDirectory(child)) continue;
                found.push({
                    path: model.path(child), level, files: model.columns.files[child], size: model.columns.total[child],
                    leftOut: model.columns.leftOut[child], purgeable: model.columns.purgeable[child],
                });
                if (level < depth) visit(child, level + 1);
            }
        };
        visit(0, 1);
        return found;
    },

    map(state, order) {
        state.list.refresh();
        return mapLayout(state, order);
    },
};
