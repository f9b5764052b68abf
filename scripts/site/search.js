// The search: every word has to be in a section. A word in a heading counts more, one in a page's title most.
"use strict";

(function () {
    const field = document.querySelector("main input[name=q]");
    const results = document.getElementById("results");
    const said = document.getElementById("said");
    const most = 50;
    const index = window.searchIndex;
    const sections = index.sections.map(([page, anchor, heading, text]) => ({
        address: index.pages[page][0], title: index.pages[page][1], anchor, heading, text,
        lowTitle: index.pages[page][1].toLowerCase(), lowHeading: heading.toLowerCase(), low: text.toLowerCase(),
    }));

    function score(section, words) {
        let sum = 0;
        for (const word of words) {
            const inTitle = section.lowTitle.includes(word);
            const inHeading = section.lowHeading.includes(word);
            if (!inTitle && !inHeading && !section.low.includes(word)) return 0;
            sum += 1 + (inHeading ? 8 : 0) + (inTitle ? 4 : 0);
            // The very name, such as that of a command or a type.
            if (section.lowHeading.split(/[^\p{L}\p{N}_-]+/u).includes(word)) sum += 8;
        }
        // A page that explains comes before one symbol of many.
        return sum + (section.anchor ? 0 : 1) + (section.address.startsWith("reference/") ? 0 : 6);
    }

    // The text around the first word, with all words marked.
    function excerpt(section, words) {
        const paragraph = document.createElement("p");
        const places = words.map((word) => section.low.indexOf(word)).filter((place) => place >= 0);
        const begin = Math.max(0, Math.min(...(places.length ? places : [0])) - 60);
        const text = section.text.slice(begin, begin + 220);
        const low = text.toLowerCase();
        if (begin > 0) paragraph.append("…");
        let at = 0;
        while (at < text.length) {
            let next = null;
            for (const word of words) {
                const place = low.indexOf(word, at);
                if (place >= 0 && (!next || place < next.place)) next = { place, length: word.length };
            }
            if (!next) break;
            const mark = document.createElement("mark");
            mark.textContent = text.slice(next.place, next.place + next.length);
            paragraph.append(text.slice(at, next.place), mark);
            at = next.place + next.length;
        }
        paragraph.append(text.slice(at), section.text.length > begin + 220 ? "…" : "");
        return paragraph;
    }

    function entry(section, words) {
        const item = document.createElement("li");
        const link = document.createElement("a");
        link.href = section.address + (section.anchor ? "#" + encodeURIComponent(section.anchor) : "");
        link.textContent = section.anchor ? section.title + " › " + section.heading : section.title;
        item.append(link, excerpt(section, words));
        return item;
    }

    function search() {
        const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
        results.replaceChildren();
        if (!words.length) {
            said.textContent = "";
            return;
        }
        const found = sections.map((section) => [score(section, words), section]).filter(([sum]) => sum > 0);
        found.sort((one, other) => other[0] - one[0]);
        said.textContent = found.length === 0 ? "Nothing has all of these words."
            : found.length > most ? `The first ${most} of ${found.length} sections.`
            : found.length === 1 ? "One section." : `${found.length} sections.`;
        for (const [, section] of found.slice(0, most)) results.append(entry(section, words));
    }

    field.value = new URLSearchParams(location.search).get("q") || "";
    field.addEventListener("input", search);
    search();
    if (!field.value) field.focus();
    document.body.dataset.ready = "true";
})();
