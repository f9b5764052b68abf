// The page's way to the model of the chosen app's home: through the worker, or in a report to a model in the page.
"use strict";

/** Asks the worker, and hears of changes. */
class WorkerFiles {
    constructor() {
        this.waiting = new Map();
        this.number = 0;
        this.listeners = [];
        this.worker = new Worker("/worker.js");
        this.worker.postMessage({ order: "begin", secret });
        this.worker.onmessage = ({ data }) => this.hear(data);
        this.worker.onerror = problem => page.bar.tell(`The files cannot be listed: ${shown(problem.message)}`, true);
    }

    hear(data) {
        if (data.notice) {
            if (data.app !== page.app) return;
            for (const listener of this.listeners) listener(data);
            return;
        }
        const done = this.waiting.get(data.number);
        this.waiting.delete(data.number);
        // An answer about an app that is no longer chosen is none.
        done?.(data.app === page.app ? data.answer : null);
    }

    /** The answer to a question of Rows.js; null where nothing is known. */
    ask(question, about) {
        const number = ++this.number;
        return new Promise(done => {
            this.waiting.set(number, done);
            this.worker.postMessage({ number, question, about });
        });
    }

    open(app) {
        this.worker.postMessage({ order: "open", app });
    }

    change(changes) {
        this.worker.postMessage({ order: "change", changes });
    }

    listen(listener) {
        this.listeners.push(listener);
    }
}

/** Has the model of a survey, which never changes. */
class SurveyFiles {
    constructor(survey) {
        this.model = new ContainerModel(survey.app);
        takeSurvey(this.model, survey);
        this.state = { model: this.model, list: new RowList(this.model) };
    }

    async ask(question, about) {
        return answers[question](this.state, about ?? {});
    }

    listen() {}
}
