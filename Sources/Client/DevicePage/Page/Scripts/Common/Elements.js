// Elements: made here only, and brought up to date in their place.
"use strict";

const drawings = "http://www.w3.org/2000/svg";

/** Has an element hear an event. The function gives way to that of an element that takes the place of this one. */
function hear(element, name, call) {
    element.heard ??= new Map();
    if (!element.heard.has(name)) element.addEventListener(name, event => element.heard.get(name)?.(event));
    element.heard.set(name, call);
}

function decorate(made, attributes, children) {
    for (const [name, value] of Object.entries(attributes ?? {})) {
        if (value === undefined || value === null || value === false) continue;
        if (typeof value === "function") hear(made, name, value);
        else made.setAttribute(name, value === true ? "" : String(value));
    }
    made.append(...children.flat(Infinity).filter(child => child !== undefined && child !== null && child !== false));
    return made;
}

/** An element. A function among the attributes hears the event of its name; strings among the children are text. */
function make(name, attributes, ...children) {
    return decorate(document.createElement(name), attributes, children);
}

function draw(name, attributes, ...children) {
    return decorate(document.createElementNS(drawings, name), attributes, children);
}

const outlines = {
    lock: "M4.5 7V5a3.5 3.5 0 0 1 7 0v2M3.5 7h9v6.5h-9z",
    unlock: "M4.5 7V5a3.5 3.5 0 0 1 6.8-1.2M3.5 7h9v6.5h-9z",
    boot: "M8 2v6M4.6 4.2a5.2 5.2 0 1 0 6.8 0",
    folder: "M1.5 4V3h5l1.5 1.5h6.5v8.5h-13z",
    file: "M3.5 1.5h6l3 3v10h-9zM9.5 1.5v3h3",
    symbolicLink: "M3.5 12.5c0-5 3-6.500 8.500-6.500M9 3l3 3-3 3",
    fifo: "M1.5 5.5h13v5h-13zM4.5 8h7",
    socket: "M8 2.5a5.5 5.5 0 1 0 .01 0M8 6a2 2 0 1 0 .01 0",
    chevron: "M6 4l4 4-4 4",
    copy: "M5.5 5.5v-3h8v8h-3M2.5 5.5h8v8h-8z",
    close: "M4 4l8 8M12 4l-8 8",
    group: "M2 2h5v5H2zM9 2h5v5H9zM2 9h5v5H2zM9 9h5v5H9z",
    clock: "M8 2a6 6 0 1 0 .01 0M8 5v3.3l2.2 1.5",
};

function icon(name) {
    const shape = draw("path", { d: outlines[name] ?? outlines.file });
    return draw("svg", { class: "icon", viewBox: "0 0 16 16", "aria-hidden": "true" }, shape);
}

// MARK: Bringing up to date

const identifyingData = ["action", "app", "path", "command"];

/** The identity of an element for a reader who is about to click it: what has another one takes no place of its. */
function identity(node) {
    return node.dataset ? identifyingData.map(key => node.dataset[key] ?? "").join("\0") : "";
}

/**
 * Gives an element the children that are described. What is there already stays, and is changed in its place: a click
 * that has begun, focus, selection and scrolled places survive.
 */
function replace(element, ...children) {
    const held = element.contains(document.activeElement) ? document.activeElement : null;
    const place = held ? actionsIn(element).indexOf(held) : -1;
    merge(element, make("div", {}, ...children));
    if (!held || held === element || document.activeElement === held) return;
    // One that was moved has lost it.
    if (held.isConnected) focusQuietly(held);
    else focusLike(held, element, place);
}

function actionsIn(element) {
    return [...element.querySelectorAll("[data-action]")];
}

function merge(element, fresh) {
    const known = new Map();
    for (const child of element.children) if (/[^\0]/.test(identity(child))) known.set(identity(child), child);
    let place = element.firstChild;
    const described = [...fresh.childNodes];
    const wanted = new Set(described.map(identity));
    for (const child of described) {
        // What goes does so first, so that what stays need not be moved past it.
        while (place && known.has(identity(place)) && !wanted.has(identity(place))) {
            const next = place.nextSibling;
            place.remove();
            place = next;
        }
        const name = identity(child);
        const same = known.get(name);
        known.delete(name);
        if (same && same !== place) element.insertBefore(same, place);
        const old = same ?? place;
        if (old && isSuccessor(child, old)) {
            update(old, child);
            place = old.nextSibling;
        } else {
            element.insertBefore(child, place);
            // One without a name gives way to the one that has come in its place.
            if (place && !known.has(identity(place))) {
                const next = place.nextSibling;
                place.remove();
                place = next;
            }
        }
    }
    while (place) {
        const next = place.nextSibling;
        place.remove();
        place = next;
    }
}

function isSuccessor(fresh, old) {
    return fresh.nodeType === old.nodeType && fresh.nodeName === old.nodeName && fresh.id === old.id
        && identity(fresh) === identity(old);
}

function update(old, fresh) {
    if (old.nodeType !== Node.ELEMENT_NODE) {
        if (old.data !== fresh.data) old.data = fresh.data;
        return;
    }
    for (const { name } of [...old.attributes]) if (!fresh.hasAttribute(name)) old.removeAttribute(name);
    for (const { name, value } of fresh.attributes) {
        if (old.getAttribute(name) === value) continue;
        // The page's policy lets no style come as an attribute.
        if (name === "style") old.style.cssText = value;
        else old.setAttribute(name, value);
    }
    for (const name of old.heard?.keys() ?? []) old.heard.set(name, fresh.heard?.get(name));
    for (const [name, call] of fresh.heard ?? []) hear(old, name, call);
    merge(old, fresh);
}

/**
 * Gives the focus to what has taken the place of an element that had it. An action comes in the place of an action
 * alone: a key that is held down or pressed twice would carry out another one.
 */
function focusLike(held, element, place) {
    const isAction = held.dataset.action !== undefined;
    const buttons = [...element.querySelectorAll("button")].filter(
        one => !one.disabled && (one.dataset.action !== undefined) === isAction);
    const isLike = (one, key) => held.dataset[key] && held.dataset[key] === one.dataset[key];
    const same = buttons.find(one => identifyingData.some(key => isLike(one, key)))
        ?? buttons.find(one => one.textContent === held.textContent) ?? (isAction ? actionsIn(element)[place] : null)
        ?? element.closest("section, [tabindex]")?.querySelector("#panel-close:not([hidden]), [tabindex]");
    if (same) focusQuietly(same);
}

/** Whether the page gives the focus itself: what a reader's focus would show is not shown then. */
let isQuiet = false;

function focusQuietly(element) {
    isQuiet = true;
    element.focus();
    isQuiet = false;
}

function setText(element, text) {
    if (element.textContent !== text) element.textContent = text;
}

function byID(identifier) {
    return document.getElementById(identifier);
}
