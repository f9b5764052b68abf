// The panel beside the files: the page of a file, of an app, or the explanation of an event.
"use strict";

/** A definition list. Pairs without a value are left out. */
function factList(pairs) {
    return make("dl", { class: "facts" }, pairs.filter(
        ([, value]) => value !== null && value !== undefined && value !== "")
        .map(([term, value]) => make("div", {}, make("dt", {}, term), make("dd", {}, value))));
}

function section(title, ...content) {
    return make("section", {}, make("h3", {}, title), content);
}

// Of content; each has a nonce and a tag of its own.
const blockSize = 4096;

const kindNames = {
    file: "File", directory: "Directory", symbolicLink: "Symbolic link", fifo: "FIFO", socket: "Socket",
    device: "Device node",
    rest: "Small files",
};

/** The values of permission bits as `ls` writes them, behind their octal digits. */
function modeText(mode) {
    const bits = parseInt(mode, 8);
    const letters = [..."rwxrwxrwx"].map((letter, index) => bits & (0o400 >> index) ? letter : "-").join("");
    return `${mode} ${letters}`;
}

function hexOf(base64) {
    const raw = atob(base64);
    const most = 48;
    const digits = [...raw.slice(0, most)].map(one => one.charCodeAt(0).toString(16).padStart(2, "0")).join(" ");
    return raw.length > most ? `${digits} … (${bytes(raw.length)})` : digits;
}

class Panel {
    constructor() {
        this.element = byID("panel");
        this.body = byID("panel-body");
        this.title = byID("panel-title");
        this.close = byID("panel-close");
        this.close.addEventListener("click", () => page.choose(null));
        this.element.addEventListener("keydown", event => {
            if (event.key === "Escape") page.choose(null);
        });
    }

    show(title, ...content) {
        replace(this.title, title);
        replace(this.body, ...content);
        this.close.hidden = page.chosenPath === null && page.chosenEvent === null;
    }

    /** Comes into view where it lies below what was chosen. */
    reveal() {
        if (matchMedia("(max-width: 1099px)").matches) this.element.scrollIntoView({ block: "nearest" });
    }

    // MARK: File

    /** Shows the page of a file, or what has changed of it. Of several questions at a time the last one counts. */
    async showFile(path) {
        const turn = this.turn = (this.turn ?? 0) + 1;
        const { app } = page;
        const isOver = () => turn !== this.turn || page.chosenPath !== path || page.app !== app;
        const facts = await page.files.ask("facts", { path });
        if (isOver()) return;
        if (!facts) {
            this.inspection = null;
            this.show(nameOf(path.split("/").pop()), make("p", { class: "quiet" },
                page.isComplete ? "It is not there any more." : "The files are still being listed."), pathLine(path));
            return;
        }
        const place = `${app}/${path}`;
        const isKnown = this.inspection && this.inspected === place;
        if (!isKnown) this.showFacts(facts, null);
        try {
            const inspection = await request("inspect", { app, ...pathMembers(path) });
            if (isOver()) return;
            Object.assign(this, { inspection, inspected: place });
            this.showFacts(facts, inspection);
        } catch (problem) {
            if (!isOver()) this.showFacts(facts, null, problem);
        }
    }

    showFacts(facts, inspection, problem) {
        const name = facts.path === "" ? page.homeName() : facts.name;
        const kind = facts.isDirectory ? "folder" : facts.kind;
        this.show([icon(kind), nameOf(name)], pathLine(facts.path),
            problem && !isOutOfReach(problem) ? make("p", { class: "warning" }, shown(problem.message)) : null,
            fileFacts(facts, inspection), protectionSection(facts, inspection), backupSection(facts, inspection),
            inspection ? [openSection(inspection), attributeSection(inspection), placeSection(inspection)] : null,
            page.readOnly ? null : fileActions(facts));
    }

    // MARK: App

    showApp(app, owner) {
        if (!app) {
            this.show("Nothing chosen", make("p", { class: "quiet" }, "Choose an app, a file or an event."));
            return;
        }
        const entitlements = Object.entries(app.entitlements ?? {});
        this.show([icon("group"), nameOf(app.name)],
            make("p", { class: "quiet" }, "Choose a file or an event to see its page here."),
            section(owner ? "Extension" : "App", factList([
                ["Identifier", nameOf(app.identifier)], ["Version", app.version && nameOf(app.version)],
                ["State", appStateWords(app)], ["Mounted at", app.mountPoint ? pathOf(app.mountPoint) : "not mounted"],
                ["Bundle", app.bundle && nameOf(app.bundle)], ["Team", app.team && nameOf(app.team)],
                ["Signer", app.signer ? nameOf(app.signer) : owner ? null : "the device, or nobody"],
                ["Extension of", owner && nameOf(owner.name)],
            ])),
            listSection("Groups", app.groups), listSection("iCloud containers", app.iCloud),
            entitlements.length === 0 ? null : section("Entitlements", factList(
                entitlements.map(([key, value]) => [nameOf(key), nameOf(JSON.stringify(value))]))));
    }

    // MARK: Event

    showEvent(event) {
        const rule = page.rules.get(event.rule);
        const app = page.findApp(event.app);
        const isOfHome = event.path !== undefined && !["mounted", "unmounted", "backedUp"].includes(event.event)
            && event.app !== undefined && event.pathCut === undefined && !event.path.includes("\ufffd");
        const link = isOfHome && app ? make("button", {
            type: "button", class: "link", "data-app": event.app, "data-path": event.path,
            click: () => page.goTo(event.app, event.path),
        }, "Show it in the files") : null;
        const who = event.process ?? (event.pid ? `process ${event.pid}` : "A process");
        const story = event.event !== "refused" ? null
            : event.operation ? make("p", { class: "story" }, nameOf(who), ` (${event.pid ?? "–"}) called `,
                make("code", {}, shown(event.operation)), event.path === undefined ? "" : " on ",
                event.path === undefined ? "" : make("bdi", {}, shown(event.path)), ": ",
                make("code", {}, shown(event.errno ?? "refused")), ".")
                : make("p", { class: "story" },
                    `${number(event.omitted ?? 0)} further calls were refused by this rule.`);
        this.show(eventTitle(event), story,
            event.rule ? section("Rule", make("p", { class: "rule" }, make("code", {}, shown(event.rule))),
                make("p", {}, rule ? sentence(rule.words) : "This rule is not known here."),
                rule ? make("p", { class: "advice" }, make("strong", {}, "Instead: "), sentence(rule.instead, true))
                    : null) : null,
            section("Event", factList(eventFacts(event))), link);
    }
}

function sentence(text, isInside) {
    const clean = shown(text);
    return (isInside ? clean : clean.slice(0, 1).toUpperCase() + clean.slice(1)) + (/[.!?]$/.test(clean) ? "" : ".");
}

function pathLine(path) {
    return make("p", { class: "place-line" }, path === "" ? "the home itself" : pathOf(path));
}

function listSection(title, list) {
    if (!list || list.length === 0) return null;
    return section(title, make("ul", { class: "items" }, list.map(one => make("li", {}, nameOf(one)))));
}

function fileFacts(facts, inspection) {
    const pairs = [["Kind", kindNames[facts.kind]],
        ["Fault", facts.fault && make("span", { class: "warning" }, sentence(facts.fault))]];
    if (facts.isDirectory) {
        pairs.push(["Content", `${bytes(facts.size)} in ${counted(facts.files, "file")}`],
            ["May be purged", facts.purgeableSize > 0 ? bytes(facts.purgeableSize) : null],
            ["Left out", facts.leftOutSize > 0 ? `${bytes(facts.leftOutSize)} of backups` : null]);
    } else {
        pairs.push(["Size", `${bytes(facts.size)}${facts.size >= 1024 ? ` (${number(facts.size)} bytes)` : ""}`]);
        pairs.push(["Stored", `${bytes(facts.stored)} in the device directory`]);
        if (facts.protection > 0) pairs.push(["Blocks",
            `${number(Math.ceil(facts.size / blockSize))} of 4,096 bytes, each sealed by itself`]);
    }
    pairs.push(["Target", facts.target !== null ? pathOf(facts.target) : null],
        ["Modified", Number.isFinite(facts.modified) ? timeOf(facts.modified) : null],
        ["Mode", inspection ? `${modeText(facts.mode)}, ${inspection.owner}:${inspection.group}`
            : modeText(facts.mode)],
        ["Names", facts.links > 1 && !facts.isDirectory ? counted(facts.links, "link") : null]);
    return section("File", factList(pairs));
}

function protectionSection(facts, inspection) {
    const known = classes[facts.protection];
    const available = inspection?.classKeyAvailable;
    return section("Protection", factList([
        [facts.isDirectory ? "Gives" : "Class", known.letter ? [classBadge(facts.protection), " ", known.name]
            : "not encrypted"],
        ["Why", inspection?.protectionReason && sentence(inspection.protectionReason)],
        ["Its key", !facts.isDirectory && inspection?.wrappedBy ? `wrapped by ${shown(inspection.wrappedBy)}` : null],
        ["Class key", available === null || available === undefined ? null
            : make("span", { class: available ? null : "warning" }, icon(available ? "unlock" : "lock"),
                available ? " there now" : " not there in the device's present state")],
        ["Content", inspection && !facts.isDirectory && known.letter
            ? inspection.readable ? "can be read now" : "cannot be read now" : null],
    ]));
}

function backupSection(facts, inspection) {
    const verdict = !facts.isLeftOut ? "in backups" : facts.isMarked ? "left out: excluded itself" : "left out";
    return section("Backup", factList([
        ["Decision", verdict],
        ["Why", inspection?.backupRule && sentence(inspection.backupRule)],
        ["Excluded by", facts.excluder !== null && facts.isLeftOut ? make("button", {
            type: "button", class: "link", "data-path": facts.excluder,
            click: () => page.choose(facts.excluder, true),
        }, pathOf(facts.excluder)) : null],
        ["Purge", facts.isPurgeable ? "may be removed when space is low" : "stays"],
    ]));
}

function openSection(inspection) {
    const list = inspection.openBy ?? [];
    return section("Open by", list.length === 0 ? make("p", { class: "quiet" }, "no process that can be seen")
        : make("ul", { class: "items" }, list.map(one => make("li", {},
            one.process === null ? make("span", { class: "quiet" }, "a process") : nameOf(one.process),
            ` (${one.pid})`, make("span", { class: "quiet" }, one.writes ? ", can write" : ", reads only")))));
}

function attributeSection(inspection) {
    const list = inspection.attributes ?? [];
    if (list.length === 0) return section("Attributes", make("p", { class: "quiet" }, "none"));
    return section("Attributes", make("dl", { class: "attributes" }, list.map(one => make("div", {},
        make("dt", {}, nameOf(one.name)),
        make("dd", {}, one.value === null ? make("code", { title: "bytes, in hexadecimal digits" }, hexOf(one.bytes))
            : one.value === "" ? make("span", { class: "quiet" }, "empty") : nameOf(one.value))))));
}

function placeSection(inspection) {
    return section("Sandbox", factList([
        ["Zone", nameOf(inspection.zone)], ["Rule", sentence(inspection.rule)],
        ["Backing", inspection.backing ? pathOf(inspection.backing) : null],
    ]));
}
