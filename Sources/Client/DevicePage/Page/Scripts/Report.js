// The page as a report of one app: one file that asks nobody.
"use strict";

class Report {
    constructor(data) {
        this.data = data;
        const { survey } = data;
        Object.assign(page, {
            app: survey.app, files: new SurveyFiles(survey), readOnly: true, readable: new Set(survey.readable),
            apps: [{ identifier: survey.app, name: survey.name || survey.app, extensions: [], groups: [] }],
        });
        document.body.classList.add("report");
        byID("files").dataset.view = "map";
        for (const part of document.querySelectorAll("[data-mode=live]")) part.remove();
        for (const part of document.querySelectorAll("[data-mode=report]")) part.hidden = false;
    }

    async show() {
        const { survey, time, findings, events } = this.data;
        const title = survey.name || survey.app;
        document.title = `${shown(title)} – container report`;
        byID("device-name").replaceChildren(nameOf(title), survey.version
            ? make("span", { class: "quiet" }, " ", nameOf(survey.version)) : "");
        byID("device-path").replaceChildren(nameOf(survey.app), ", as of ", timeOf(time));
        const state = byID("state");
        state.className = `state state-${survey.state}`;
        state.replaceChildren(icon(stateIcons[survey.state] ?? "boot"), stateNames[survey.state]
            ?? shown(survey.state));
        const sums = await page.files.ask("sums");
        byID("report-facts").replaceChildren(...this.facts(sums).map(([term, value]) =>
            make("div", {}, make("dt", {}, term), make("dd", {}, value))));
        page.map = new Treemap();
        showLegend(byID("legend"), sums);
        const directories = await page.files.ask("directories", { depth: 3 });
        byID("report-directories").replaceChildren(directoriesTable(directories));
        setText(byID("report-verdict"), verdictOf(findings));
        byID("report-findings").replaceChildren(findings.length > 0 ? findingsTable(findings, false) : "");
        byID("report-events").replaceChildren(this.events(events));
        document.body.dataset.ready = "true";
    }

    facts(sums) {
        const { survey } = this.data;
        return [
            ["App", survey.running ? "running" : "not running"], ["Files", number(sums.files)],
            ["Size", bytes(sums.size)],
            ["In backups", bytes(sums.size - sums.leftOut)], ["Left out of backups", bytes(sums.leftOut)],
            ["May be purged", bytes(sums.purgeable)], ["Available on the device", bytes(survey.available)],
        ];
    }

    events(events) {
        if (events.length === 0) return make("p", { class: "quiet" }, "The record has no event of the app.");
        return table(["Time", "Event", "Path", "Details"], [...events].reverse().map(event => make("tr", {},
            make("td", { class: "moment" }, timeOf(event.time)), make("td", {}, eventTitle(event)),
            make("td", { class: "wrap" }, event.path === undefined ? "" : pathOf(event.path)),
            make("td", { class: "wrap" }, eventWords(event)))), "Last events");
    }
}
