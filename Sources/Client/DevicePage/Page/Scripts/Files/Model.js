// The entries of one app's home as columns, with sums for directories. In the worker, or in the page of a report.
"use strict";

const kinds = ["file", "directory", "symbolicLink", "fifo", "socket", "device", "rest"];
const kindNumbers = new Map(kinds.map((kind, index) => [kind, index]));
const directoryKind = 1;
/** Small files that a survey counts together. */
const restKind = 6;
const protectionNumbers = new Map([
    ["NSFileProtectionComplete", 1], ["NSFileProtectionCompleteUnlessOpen", 2],
    ["NSFileProtectionCompleteUntilFirstUserAuthentication", 3], ["NSFileProtectionNone", 4],
]);
const flag = { marked: 1, leftOut: 2, purgeable: 4, expanded: 8, listed: 16, live: 32 };

/** Columns that grow together. An entry is a number: its place in each of them. */
class Columns {
    constructor(forms) {
        this.forms = forms;
        this.room = 1024;
        for (const [name, Form] of Object.entries(forms)) this[name] = new Form(this.room);
    }

    grow() {
        this.room *= 2;
        for (const [name, Form] of Object.entries(this.forms)) {
            const wider = new Form(this.room);
            wider.set(this[name]);
            this[name] = wider;
        }
    }
}

class ContainerModel {
    constructor(app) {
        this.app = app;
        this.columns = new Columns({
            parent: Int32Array, size: Float64Array, stored: Float64Array, modified: Float64Array, total: Float64Array,
            files: Float64Array, purgeable: Float64Array, leftOut: Float64Array, mode: Uint16Array, links: Float64Array,
            kind: Uint8Array, protection: Uint8Array, flags: Uint8Array, stamp: Uint32Array,
        });
        this.names = [""];
        this.children = [[]];
        this.targets = new Map();
        /** The file numbers of directories, by which one that took the place of another is known. */
        this.numbers = new Map();
        /** Of the few entries that have one: the reason for which facts are missing. */
        this.faults = new Map();
        this.directories = new Map([["", 0]]);
        this.freed = [];
        /** The number of the listing that has named an entry last is its stamp. */
        this.listing = 0;
        this.entries = 0;
        this.version = 0;
        this.columns.parent[0] = -1;
        this.columns.kind[0] = directoryKind;
        this.columns.flags[0] = flag.expanded | flag.live;
    }

    // MARK: Names and places

    path(entry) {
        const names = [];
        for (let at = entry; at > 0; at = this.columns.parent[at]) names.push(this.names[at]);
        return names.reverse().join("/");
    }

    isDirectory(entry) {
        return this.columns.kind[entry] === directoryKind;
    }

    has(entry, bit) {
        return (this.columns.flags[entry] & bit) !== 0;
    }

    /** The entry at a path, or -1. */
    find(path) {
        const directory = this.directories.get(path);
        if (directory !== undefined) return directory;
        const end = path.lastIndexOf("/");
        const parent = this.directories.get(end < 0 ? "" : path.slice(0, end));
        const name = path.slice(end + 1);
        if (parent === undefined) return -1;
        return this.children[parent].find(child => this.names[child] === name) ?? -1;
    }

    level(entry) {
        let level = 0;
        for (let at = entry; at > 0; at = this.columns.parent[at]) level += 1;
        return level;
    }

    /** The directory that keeps an entry out of backups, or -1. */
    excluder(entry) {
        for (let at = this.columns.parent[entry]; at > 0; at = this.columns.parent[at]) {
            if (this.has(at, flag.marked)) return at;
        }
        return -1;
    }

    // MARK: Changes

    /** Adds the facts of an entry to the sums of all directories above it, or takes them away. */
    spread(entry, sign) {
        const { kind, size, flags, parent, total, files, purgeable, leftOut } = this.columns;
        if (kind[entry] === directoryKind) return;
        const length = sign * size[entry];
        const count = sign * (kind[entry] === restKind ? this.columns.links[entry] : 1);
        const going = flags[entry] & flag.purgeable ? length : 0;
        const out = flags[entry] & flag.leftOut ? length : 0;
        for (let at = parent[entry]; at >= 0; at = parent[at]) {
            total[at] += length;
            files[at] += count;
            purgeable[at] += going;
            leftOut[at] += out;
        }
    }

    /** A place in the columns for a new entry. */
    allot(parent, name) {
        const entry = this.freed.pop() ?? this.names.length;
        if (entry >= this.columns.room) this.columns.grow();
        this.names[entry] = name;
        this.children[entry] = null;
        this.columns.parent[entry] = parent;
        this.columns.flags[entry] = flag.live;
        for (const sum of ["total", "files", "purgeable", "leftOut"]) this.columns[sum][entry] = 0;
        this.children[parent].push(entry);
        this.entries += 1;
        return entry;
    }

    /** Takes the facts of a file as the control API lists it. `entry` is the one of its name, where there is one. */
    take(file, parent, entry) {
        if (entry !== undefined && this.isDirectory(entry) !== (file.kind === "directory")) {
            this.remove(entry);
            entry = undefined;
        }
        if (entry === undefined) entry = this.allot(parent, file.path.slice(file.path.lastIndexOf("/") + 1));
        else this.spread(entry, -1);
        this.store(entry, file);
    }

    store(entry, file) {
        const { columns } = this;
        columns.kind[entry] = kindNumbers.get(file.kind) ?? 0;
        columns.size[entry] = file.size;
        columns.stored[entry] = file.storedSize ?? 0;
        columns.modified[entry] = file.modified ? Date.parse(file.modified) : NaN;
        columns.mode[entry] = parseInt(file.mode ?? "0", 8);
        columns.links[entry] = file.links ?? 1;
        columns.protection[entry] = protectionNumbers.get(file.protection) ?? 0;
        columns.stamp[entry] = this.listing;
        const kept = columns.flags[entry] & (flag.expanded | flag.listed);
        columns.flags[entry] = flag.live | kept | (file.excluded ? flag.marked : 0)
            | (file.purgeable ? flag.purgeable : 0) | (file.backup !== "included" ? flag.leftOut : 0);
        if (file.target !== null && file.target !== undefined) this.targets.set(entry, file.target);
        else this.targets.delete(entry);
        if (file.fault) this.faults.set(entry, file.fault);
        else this.faults.delete(entry);
        if (file.kind === "directory") {
            this.numbers.set(entry, file.fileNumber);
            if (this.children[entry] === null) {
                this.children[entry] = [];
                this.directories.set(file.path, entry);
            }
        }
        this.spread(entry, 1);
        this.version += 1;
    }

    /** Removes an entry and all below it. */
    remove(entry) {
        const parent = this.columns.parent[entry];
        const siblings = this.children[parent];
        siblings.splice(siblings.indexOf(entry), 1);
        this.forget(entry, this.path(entry));
        this.version += 1;
    }

    forget(entry, path) {
        if (this.isDirectory(entry)) {
            for (const child of this.children[entry]) this.forget(child, path + "/" + this.names[child]);
            this.directories.delete(path);
            this.numbers.delete(entry);
        } else {
            this.spread(entry, -1);
        }
        this.children[entry] = null;
        this.columns.flags[entry] = 0;
        this.names[entry] = "";
        this.targets.delete(entry);
        this.faults.delete(entry);
        this.freed.push(entry);
        this.entries -= 1;
    }
}

/** Takes the nodes of a survey: of each a name, a size and a class, and no time. */
function takeSurvey(model, survey) {
    const add = (parent, path, node, above) => {
        const isDirectory = node.children !== undefined && node.children !== null;
        const isRest = !isDirectory && node.name === "";
        const name = isRest ? `${node.files} small files` : node.name;
        const entry = model.allot(parent, name);
        model.store(entry, {
            path: path + name, kind: isDirectory ? "directory" : isRest ? "rest" : "file", size: node.size,
            protection: node.protection, backup: node.backup, purgeable: node.purgeable, links: node.files,
            excluded: node.backup === "excluded" && above === "included",
        });
        for (const child of node.children ?? []) add(entry, path + name + "/", child, node.backup);
    };
    for (const container of survey.containers) {
        const isData = container.name === "" && container.children;
        for (const node of isData ? container.children : [container]) add(0, "", node, "included");
    }
}
