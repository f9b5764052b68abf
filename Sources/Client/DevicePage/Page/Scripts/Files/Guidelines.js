// The findings of an audit against the data storage guidelines, and the directories by what becomes of their content.
"use strict";

/** The path in the app's home of a place in a container, or null where the home does not have it. */
function homePath(domain, path) {
    const inside = path === "" ? "" : "/" + path;
    const group = /^AppDomainGroup-(.*)$/s.exec(domain);
    if (group) return `Groups/${group[1]}${inside}`;
    return /^AppDomain(Plugin)?-/.test(domain) ? path : null;
}

function verdictOf(groups) {
    if (groups.length === 0) return "Nothing to say against what the app stores.";
    const count = severity => groups.filter(group => group.severity === severity)
        .reduce((sum, group) => sum + group.findings, 0);
    const breaches = count("breach");
    const advice = count("advice");
    return [breaches > 0 ? counted(breaches, "breach", "breaches") : "No breach",
        advice > 0 ? counted(advice, "piece of advice", "pieces of advice") : null].filter(part => part !== null)
            .join(", ") + ".";
}

/** The table of findings. Places lead to the files where there is a page of them. */
function findingsTable(groups, isLive) {
    const row = group => {
        const path = homePath(group.domain, group.path);
        const more = group.findings - group.names.length;
        const place = path === null ? nameOf(`${group.domain}/${group.path}`) : path === "" ? "the home" : pathOf(path);
        const names = group.findings === 1 ? null : make("div", { class: "quiet" },
            group.names.map((name, index) => [index > 0 ? ", " : "", nameOf(name)]), more > 0
                ? ` and ${number(more)} more` : "");
        return make("tr", {}, make("td", {}, make(
            "span", { class: `severity severity-${group.severity}` }, shown(group.severity))),
            make("td", { class: "number" }, number(group.findings)), make("td", { class: "number" }, bytes(group.size)),
            make("td", { class: "wrap" }, isLive && path ? make("button", {
                type: "button", class: "link", "data-path": path, click: () => page.goTo(page.app, path) }, place)
                    : place, names),
            make("td", { class: "wrap" }, sentence(group.words)));
    };
    return table(["Severity", "#Findings", "#Size", "Place", "Rule and advice"], groups.map(row), "Findings");
}

/** A table in a box that scrolls sideways where it is too narrow. A title with # is that of a column of numbers. */
function table(titles, rows, label) {
    for (const row of rows) {
        [...row.children].forEach((cell, index) => cell.dataset.title = titles[index].replace("#", ""));
    }
    return make("div", { class: label === "Directories" ? "scroll" : "scroll stacks", tabindex: "0", role: "region",
        "aria-label": "Table: " + label }, make("table", {},
        make("thead", {}, make("tr", {}, titles.map(title => make("th", {
            scope: "col", class: title.startsWith("#") ? "number" : null }, title.replace("#", ""))))),
        make("tbody", {}, rows)));
}

function directoriesTable(directories) {
    return table(["Directory", "#Files", "#Size", "#Left out", "#Purgeable"], directories.map(one => {
        const name = one.level === 1 ? one.path : one.path.slice(one.path.lastIndexOf("/") + 1);
        const place = make("td", { class: "wrap", title: shown(one.path) }, pathOf(name));
        place.style.paddingInlineStart = (one.level - 1) * 16 + "px";
        const amount = size => size === 0 ? make("td", { class: "number quiet" }, "–")
            : make("td", { class: "number" }, bytes(size));
        return make("tr", {}, place, make("td", { class: "number" }, number(one.files)), amount(one.size),
            amount(one.leftOut), amount(one.purgeable));
    }), "Directories");
}

class Guidelines {
    constructor() {
        this.place = byID("guidelines");
    }

    /** Has the device look at the app's containers. */
    async show() {
        const { app } = page;
        if (!app) return;
        if (this.app !== app) replace(this.place, make("p", { class: "quiet" }, "The files are looked at …"));
        this.app = app;
        try {
            const report = await request("audit", { app });
            if (app !== page.app) return;
            replace(this.place, make("div", { class: "guidelines-head" },
                make("p", { class: "verdict" }, verdictOf(report.groups)),
                make("button", { type: "button", class: "action", ...commandHints(() => commands.audit(page.app)),
                    click: () => this.show() },
                    "Check again")),
            report.groups.length > 0 ? findingsTable(report.groups, true) : null);
        } catch (problem) {
            if (app === page.app) replace(this.place, make("p", { class: "warning" }, sentence(problem.message)));
        }
    }
}
