// One listing of a directory, part by part: what it does not name is not there any more.
"use strict";

// Most directories of a listing are new in it, and no earlier entry has to be looked for.
const nothingKnown = new Map();

class Listing {
    /** Begins a listing of a directory that the model has; with `isDeep` of all that lies in it. */
    constructor(model, path, isDeep) {
        Object.assign(this, { model, path, isDeep });
        this.directory = model.directories.get(path);
        this.names = new Map();
        /** Directories that the model did not have, or had others in the place of. */
        this.fresh = [];
        model.listing += 1;
    }

    /** Takes the entries of a part. */
    take(files) {
        const { model } = this;
        for (const file of files) {
            file.path = pathOfReply(file);
            const end = file.path.lastIndexOf("/");
            const parent = model.directories.get(end < 0 ? "" : file.path.slice(0, end));
            if (parent === undefined) continue;
            const known = this.known(parent, file, file.path.slice(end + 1));
            const isFresh = file.kind === "directory" && (known === undefined || !model.isDirectory(known));
            model.take(file, parent, known);
            if (!isFresh) continue;
            this.fresh.push(file.path);
            this.names.set(model.directories.get(file.path), nothingKnown);
        }
    }

    /** The entry that a listed file has already. A directory in the place of another is none that was there. */
    known(parent, file, name) {
        const { model } = this;
        const known = this.namesIn(parent).get(name);
        const isOther = known !== undefined && file.kind === "directory" && model.isDirectory(known)
            && model.numbers.get(known) !== file.fileNumber;
        if (!isOther) return known;
        model.remove(known);
        return undefined;
    }

    /** The entries that a directory had before this listing, by name. */
    namesIn(directory) {
        let names = this.names.get(directory);
        if (!names) {
            const { model } = this;
            const children = model.children[directory];
            names = children.length === 0 ? nothingKnown
                : new Map(children.map(child => [model.names[child], child]));
            this.names.set(directory, names);
        }
        return names;
    }

    /** Removes the entries that were not named. */
    end() {
        this.sweep(this.directory, this.path);
    }

    sweep(directory, path) {
        const { model } = this;
        const kept = [];
        for (const child of model.children[directory]) {
            if (model.columns.stamp[child] === model.listing) kept.push(child);
            else model.forget(child, (path === "" ? "" : path + "/") + model.names[child]);
        }
        if (kept.length < model.children[directory].length) {
            model.children[directory] = kept;
            model.version += 1;
        }
        if (!this.isDeep) return;
        for (const child of kept) {
            if (model.isDirectory(child)) this.sweep(child, (path === "" ? "" : path + "/") + model.names[child]);
        }
    }
}
