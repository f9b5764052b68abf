// The common parts of all actions: buttons, the bar with the command line that does the same, and dialogs.
"use strict";

/** The bar at the foot of the page: the command line of the action that is meant, and what came of the last one. */
class CommandBar {
    constructor() {
        this.code = byID("command");
        this.copyButton = byID("command-copy");
        this.outcome = byID("outcome");
        this.copyButton.addEventListener("click", () => this.copy());
    }

    show(text) {
        setText(this.code, text);
        this.code.title = text;
        this.copyButton.disabled = text === "";
    }

    copy() {
        if (this.code.textContent !== "") copyText(this.code.textContent, this.copyButton);
    }

    tell(text, isProblem) {
        this.outcome.className = isProblem ? "outcome problem" : "outcome";
        this.outcome.replaceChildren(make("span", { class: "quiet" }, timeOf(Date.now())), " ",
            isProblem ? make("span", { role: "img", "aria-label": "Problem:" }, "⚠ ") : "", text);
        this.outcome.title = text;
    }
}

/** Copies a text, and says on the button beside it whether that went well. */
async function copyText(text, button) {
    let isCopied = true;
    try {
        await navigator.clipboard.writeText(text);
    } catch {
        isCopied = copyBySelection(text, button.parentElement);
    }
    setText(button, isCopied ? "Copied" : "Not copied");
    clearTimeout(button.timer);
    button.timer = setTimeout(() => setText(button, "Copy"), 1600);
}

// The older way, for a page that may not write to the clipboard; beside the button, as a dialog shuts off all else.
function copyBySelection(text, place) {
    const held = document.activeElement;
    const area = place.appendChild(make("textarea", { class: "unseen", "aria-hidden": "true" }));
    area.value = text;
    area.select();
    const isCopied = document.execCommand("copy");
    area.remove();
    if (held) focusQuietly(held);
    return isCopied;
}

// A pointer that only passes by on its way to the button that copies shows nothing.
const restOfPointer = 120;

/** Attributes by which a control shows its command line while it is pointed at or has the focus. */
function commandHints(command) {
    const show = () => isQuiet || page.bar.show(command());
    return {
        pointerenter: () => commandHints.timer = setTimeout(show, restOfPointer),
        pointerleave: () => clearTimeout(commandHints.timer),
        focus: show, "aria-keyshortcuts": "c",
    };
}

/**
 * A button of an action. `run` returns what came of it in a sentence. One that makes no sense now keeps its place and
 * the focus, so that a second click or key comes to no other.
 */
function actionButton({ text, command, run, name, isPrimary, isDisabled, describe }) {
    return make("button", {
        type: "button", class: isPrimary ? "action primary" : "action", "data-action": name ?? text,
        "aria-disabled": isDisabled ? "true" : null, title: describe, ...commandHints(command),
        click: isDisabled ? null : () => carryOut(text, command, run),
    }, text);
}

/** The command lines of actions that are being carried out. */
const underWay = new Set();

/** Carries an action out, and tells what came of it. A second click while it lasts is none. */
async function carryOut(text, command, run) {
    const isDialog = text.endsWith("…");
    const line = command();
    page.bar.show(line);
    if (isDialog) {
        run();
        return;
    }
    if (underWay.has(line)) return;
    underWay.add(line);
    page.bar.tell(`${text} …`);
    try {
        page.bar.tell(await run());
        page.refresh();
    } catch (problem) {
        page.bar.tell(shown(problem.message), true);
        if (isOutOfReach(problem)) page.lost(problem);
    } finally {
        underWay.delete(line);
    }
}

// MARK: Dialogs

/** A line with a command and the button that copies it. */
function commandLine(command) {
    const code = make("code", {}, command());
    const copy = make("button", { type: "button", class: "copy" }, "Copy");
    copy.addEventListener("click", () => copyText(code.textContent, copy));
    return { element: make("div", { class: "command-line" }, code, copy), update: () => setText(code, command()) };
}

function field(label, control, hint) {
    const identifier = control.id || `field-${field.count = (field.count ?? 0) + 1}`;
    control.id = identifier;
    const hintID = hint ? identifier + "-hint" : null;
    if (hint) control.setAttribute("aria-describedby", hintID);
    return make("div", { class: "field" }, make("label", { for: identifier }, label), control,
        hint ? make("p", { class: "hint", id: hintID }, hint) : null);
}

function check(label, control) {
    return make("label", { class: "check" }, control, make("span", {}, label));
}

function select(choices, chosen) {
    const made = make("select", {}, choices.map(([value, text]) => make("option", { value }, text)));
    if (chosen !== undefined) made.value = chosen;
    return made;
}

/**
 * A dialog of an action. `run(signal, progress)` carries it out, and returns what came of it in a sentence, or nothing
 * to keep the dialog open. `changed` is called with each change of its controls.
 */
class ActionDialog {
    constructor({ title, content, command, confirm, isDanger, run, changed }) {
        Object.assign(this, { run, changed, command });
        this.line = commandLine(command);
        this.problem = make("p", { class: "warning", role: "alert" });
        this.problem.hidden = true;
        this.progress = make("progress", { "aria-label": title });
        this.progressWords = make("span", { class: "quiet" });
        this.working = make("div", { class: "working" }, this.progress, this.progressWords);
        this.working.hidden = true;
        this.confirm = make("button", { type: "submit", class: isDanger ? "action danger" : "action primary" },
            confirm);
        this.cancel = make("button", { type: "button", class: "action", click: () => this.end() }, "Cancel");
        const heading = make("h2", { id: "dialog-title" }, title);
        this.form = make("form", { submit: event => this.submit(event), input: () => this.change() },
            heading, make("div", { class: "dialog-body" }, content), this.problem, this.working, this.line.element,
            make("div", { class: "dialog-foot" }, this.cancel, this.confirm));
        this.element = make("dialog", { "aria-labelledby": "dialog-title" }, this.form);
        this.element.addEventListener("close", () => this.leave());
        this.before = document.activeElement;
        // A button that is drawn anew meanwhile is found again by its name.
        this.beforeName = this.before?.dataset?.action;
    }

    open() {
        document.body.append(this.element);
        this.element.showModal();
        this.change();
        return this;
    }

    change() {
        this.line.update();
        this.changed?.(this);
    }

    async submit(event) {
        event.preventDefault();
        if (this.abort) return;
        this.abort = new AbortController();
        this.problem.hidden = true;
        this.confirm.disabled = true;
        const slow = setTimeout(() => this.working.hidden = false, 250);
        try {
            const outcome = await this.run(this.abort.signal, progress => this.tell(progress));
            if (outcome) {
                page.bar.show(this.command());
                page.bar.tell(outcome);
                this.end();
            }
            page.refresh();
        } catch (problem) {
            if (problem.kind === "cancelled") this.end();
            else this.complain(problem);
        } finally {
            clearTimeout(slow);
            this.abort = null;
            this.working.hidden = true;
            this.confirm.disabled = false;
            this.changed?.(this);
        }
    }

    complain(problem) {
        setText(this.problem, sentence(problem.message));
        this.problem.hidden = false;
        this.element.querySelector("input[type=password]")?.select();
        if (isOutOfReach(problem)) page.lost(problem);
    }

    tell({ activity, unit, done, total }) {
        this.working.hidden = false;
        if (total) {
            this.progress.max = total;
            this.progress.value = done;
        }
        const amount = unit === "bytes" ? bytes(done) : counted(done, "file");
        setText(this.progressWords,
            `${shown(activity)}: ${amount}${total ? " of " + (unit === "bytes" ? bytes(total) : number(total)) : ""}`);
    }

    /** Closes the dialog, and cancels what is under way. */
    end() {
        this.abort?.abort();
        this.element.close();
    }

    leave() {
        this.abort?.abort();
        this.element.remove();
        const back = this.before?.isConnected ? this.before
            : document.querySelector(`[data-action="${CSS.escape(this.beforeName ?? "")}"]`);
        focusQuietly(back ?? page.filesInView());
    }
}
