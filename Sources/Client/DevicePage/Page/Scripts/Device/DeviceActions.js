// The actions on the device: lock, unlock, restart, purge, clock, surroundings, backup.
"use strict";

const purgeReasons = {
    leastRecentlyUsed: "unused for the longest time", purgeable: "all that is purgeable goes",
    unused: "not used for that long",
    appRunning: "its app is running", fileOpen: "a file in it is open", targetReached: "enough is available without it",
    usedRecently: "used more recently", empty: "takes no space", appBusy: "its app is being changed",
    changed: "changed meanwhile", cancelled: "the purge ended before", failed: "the host did not let it go",
};

const actions = {
    /** The buttons of a device; those that make no sense in its present state are off. */
    ofDevice() {
        const status = page.status;
        if (!status || page.readOnly) return [];
        const { state, hasPasscode } = status;
        const isOpen = state === "unlocked" || state === "locking";
        return [
            hasPasscode ? actionButton({
                text: "Lock", command: commands.lock, describe: "After the grace period",
                isDisabled: state !== "unlocked", run: async () => {
                    await request("lock", { now: false, wait: false });
                    return "The lock is announced.";
                } }) : null,
            hasPasscode ? actionButton({
                text: "Lock now", command: commands.lockNow, describe: "Without a grace period",
                isDisabled: !isOpen, run: async () => {
                    await request("lock", { now: true });
                    return "The device is locked.";
                } }) : null,
            hasPasscode ? actionButton({
                text: "Unlock…", command: commands.unlock, isPrimary: state !== "unlocked",
                isDisabled: state === "unlocked", run: actions.unlock }) : null,
            actionButton({ text: "Restart…", command: commands.restart, run: actions.restart }),
            actionButton({ text: "Purge…", command: () => commands.purge({ level: "warning" }), run: actions.purge }),
            actionButton({ text: "Clock…", command: () => commands.clock(28800), run: actions.advance }),
            actionButton({ text: "Back up…", command: () => commands.backup({ output: actions.backupPath("tar") }),
                run: actions.backup }),
        ];
    },

    unlock() {
        const passcode = make("input", { type: "password", autocomplete: "off", required: true, spellcheck: "false" });
        const wait = make("p", { class: "hint" });
        const showWait = () => {
            const left = Math.ceil(page.deviceView.passcodeWait());
            const wrong = page.status?.passcodeAttempts ?? 0;
            const count = counted(wrong, "wrong passcode");
            setText(wait, left > 0 ? `After ${count} the next attempt has to wait ${duration(left)}.`
                : wrong > 0 ? `${count} so far. The first five are free; then each has to wait.` : "");
        };
        const timer = setInterval(showWait, 500);
        showWait();
        const dialog = new ActionDialog({
            title: "Unlock the device", content: [field("Passcode", passcode), wait], command: commands.unlock,
            confirm: "Unlock",
            run: async () => {
                await request("unlock", { passcode: passcode.value }).finally(() => page.poll());
                return "The device is unlocked.";
            },
        });
        dialog.element.addEventListener("close", () => clearInterval(timer));
        dialog.open();
        passcode.focus();
    },

    restart() {
        const running = page.apps.filter(app => app.running).length;
        const killed = running > 0 ? `${counted(running, "running app")} will be killed. ` : "";
        new ActionDialog({
            title: "Restart the device?", isDanger: true, confirm: "Restart", command: commands.restart,
            content: make("p", {}, killed, page.status.hasPasscode
                ? "Then the device is before its first unlock: only class D can be read until it is unlocked."
                : "Every key is removed from memory, and made anew."),
            run: async () => {
                await request("restart", {});
                return "The device has restarted.";
            },
        }).open();
    },

    // MARK: Purge

    purge() {
        const aim = select([["warning", "up to the high-water mark"], ["critical", "all that may go"],
            ["free", "until so much is available"], ["age", "all that was not used for so long"]]);
        const amount = make("input", { type: "number", min: "0", step: "any", value: "1", required: true });
        const app = select([["", "all apps"], ...page.apps.map(one => [one.identifier, shortened(one.name)])]);
        const amountField = field("GiB", amount);
        const list = make("div", { class: "purge-list", tabindex: "0", role: "region", "aria-label": "What would go" });
        const order = () => ({
            ...(app.value ? { app: app.value } : {}),
            ...(["warning", "critical"].includes(aim.value) ? { level: aim.value } : {}),
            ...(aim.value === "free" ? { free: Math.round(Number(amount.value) * 2 ** 30) } : {}),
            ...(aim.value === "age" ? { olderThan: Math.round(Number(amount.value) * 86400) } : {}),
        });
        let last = "";
        let isWorth = false;
        const changed = async dialog => {
            amountField.hidden = amount.disabled = !["free", "age"].includes(aim.value);
            setText(amountField.querySelector("label"), aim.value === "age" ? "Days" : "GiB");
            const asked = amount.checkValidity() ? JSON.stringify(order()) : null;
            if (asked === last) {
                // What came of a look stands until another one is asked for.
                dialog.confirm.disabled = !isWorth;
                return;
            }
            last = asked;
            isWorth = false;
            dialog.confirm.disabled = true;
            if (asked === null) {
                setText(dialog.confirm, "Purge");
                replace(list, make("p", {}, aim.value === "age" ? "Say how many days." : "Say how many GiB."));
                return;
            }
            try {
                const plan = await request("purge", { ...order(), dryRun: true });
                if (asked !== last) return;
                showPlan(list, plan);
                setText(dialog.confirm, plan.purged.length === 0 ? "Nothing to purge" : `Purge ${bytes(plan.freed)}`);
                isWorth = plan.purged.length > 0;
                dialog.confirm.disabled = !isWorth;
                dialog.problem.hidden = true;
            } catch (problem) {
                if (asked !== last) return;
                last = "";
                dialog.complain(problem);
            }
        };
        new ActionDialog({
            title: "Purge", isDanger: true, confirm: "Purge", command: () => commands.purge(order()), changed,
            content: [make("div", { class: "field-row" }, field("Purge", aim), amountField, field("Of", app)), list],
            run: async () => {
                const report = await request("purge", order());
                return `${counted(report.purged.length, "entry", "entries")} purged: ${bytes(report.freed)} came free, `
                    + `${bytes(report.available)} are available.`;
            },
        }).open();
    },

    // MARK: Days

    advance() {
        const count = make("input", { type: "number", min: "0", step: "1", value: "8", required: true });
        const unit = select([["60", "minutes"], ["3600", "hours"], ["86400", "days"], ["604800", "weeks"]], "3600");
        const isReal = make("input", { type: "checkbox" });
        const seconds = () => Math.max(0, Math.round(Number(count.value))) * Number(unit.value);
        new ActionDialog({
            title: "Advance the clock", confirm: "Advance",
            command: () => isReal.checked ? commands.realClock() : commands.clock(seconds()),
            changed: dialog => {
                count.disabled = unit.disabled = isReal.checked;
                setText(dialog.confirm, isReal.checked ? "Set" : "Advance");
            },
            content: [make("div", { class: "field-row" }, field("By", count), field("Unit", unit)),
                check("Set it to the host’s time instead", isReal),
                make("p", { class: "hint" }, "Work that comes due meanwhile is done in its order: a pending lock, "
                    + "scheduled backups, the removal of items of tmp, the wait after wrong passcodes.")],
            run: async () => {
                const report = await request("clock", isReal.checked ? { real: true } : { advance: seconds() });
                page.deviceView.clock = { ...report, received: performance.now() };
                const happened = report.happened.map(event => eventNames[event.event]?.toLowerCase()
                    ?? shown(event.event));
                return `The device’s time is ${timeText(Date.parse(report.time))}.`
                    + (happened.length > 0 ? ` Meanwhile: ${happened.join(", ")}.` : "");
            },
        }).open();
    },

    setCondition(word) {
        const isOn = !page.deviceView.surroundings[word];
        return carryOut(isOn ? "On" : "Off", () => commands.conditions(word, isOn), async () => {
            page.deviceView.surroundings = await request("conditions", { [word]: isOn });
            page.deviceView.fill();
            return `${word === "wifi" ? "Wi-Fi" : "Power"} is ${isOn ? "on" : "off"}.`;
        });
    },

    // MARK: Backup

    backupPath(form) {
        const name = page.device.split("/").pop().replace(/[^A-Za-z0-9._-]+/g, "-").replace(/^-+/, "");
        const time = new Date(Date.now() - new Date().getTimezoneOffset() * 60000).toISOString().slice(0, 16)
            .replace(/[T:]/g, "-");
        return `${page.home ?? ""}/${name || "device"}-${time}${form === "tar" ? ".tar" : ""}`;
    },

    backup() {
        const form = select([["tar", "a tar"], ["finder", "a Finder backup"]]);
        const output = make("input", { type: "text", required: true, spellcheck: "false",
            value: actions.backupPath("tar") });
        const app = select([["", "all apps"], ...page.apps.map(one => [one.identifier, shortened(one.name)])]);
        const isAll = make("input", { type: "checkbox" });
        const password = make("input", { type: "password", autocomplete: "new-password" });
        const passwordField = field("Password", password,
            "Empty: not encrypted. The command line takes it from a file.");
        let suggested = output.value;
        const order = () => ({
            output: output.value, format: form.value, ...(app.value ? { app: app.value } : {}),
            ...(isAll.checked ? { ignoreExclusions: true } : {}),
            ...(form.value === "finder" && password.value ? { password: password.value } : {}),
        });
        new ActionDialog({
            title: "Back up", confirm: "Back up", command: () => commands.backup(order()),
            changed: () => {
                passwordField.hidden = form.value !== "finder";
                if (output.value !== suggested) return;
                output.value = suggested = actions.backupPath(form.value);
            },
            content: [field("To", output, "An absolute path on the machine of the device. Nothing is there yet."),
                make("div", { class: "field-row" }, field("As", form), field("Of", app)), passwordField,
                check("Take in what is marked as excluded", isAll)],
            run: async (signal, progress) => {
                const report = await work("backup", order(), progress, signal);
                return `${counted(report.files, "file")}, ${bytes(report.bytes)}, are in ${shown(order().output)}`
                    + (report.sealed > 0 ? `, ${number(report.sealed)} of them as ciphertext.` : ".");
            },
        }).open();
    },
};

/** The list of a dry run: what would go, and what would stay and why. */
function showPlan(place, plan) {
    const row = (entry, isGoing) => make("tr", { class: isGoing ? "" : "quiet" },
        make("td", {}, isGoing ? "goes" : "stays"), make("td", {}, nameOf(page.findApp(entry.app)?.name ?? entry.app)),
        make("td", { class: "wrap" }, pathOf(entry.path)), make("td", { class: "number" }, bytes(entry.size)),
        make("td", {}, purgeReasons[entry.reason] ?? shown(entry.reason)));
    const most = 300;
    const rows = [...plan.purged.slice(0, most).map(entry => row(entry, true)),
        ...plan.skipped.slice(0, most).map(entry => row(entry, false))];
    const more = plan.purged.length + plan.skipped.length - rows.length;
    const heads = ["Fate", "App", "Entry", "Size", "Why"].map(
        title => make("th", { scope: "col", class: title === "Size" ? "number" : null }, title));
    replace(place, make("p", {}, plan.purged.length === 0 ? "Nothing would go."
        : `${counted(plan.purged.length, "entry", "entries")} would go: ${bytes(plan.freed)} would come free, `
            + `${bytes(plan.available)} would be available.`),
    rows.length === 0 ? null : make("table", {}, make("thead", {}, make("tr", {}, heads)), make("tbody", {}, rows)),
    more > 0 ? make("p", { class: "quiet" }, `and ${number(more)} more`) : null);
}
