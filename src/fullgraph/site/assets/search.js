"use strict";
/* Finds breaks by id, by a pasted message or by words, best first. */
(function (scope) {
  const { Messages, FIELD } = scope.FullgraphMessages;
  const { Words, wordsOf } = scope.FullgraphWords;
  const LONGEST_QUERY = 200000;

  function breakOf(row, index) {
    const [
      id, type, explanation, context, hints, earlier, how, category, status, marks, fixable, example,
      code, info, users, prior,
    ] = row;
    const texts = (numbers) => numbers.map((number) => index.texts[number]);
    // If torch has a variable, there can be several explanations.
    const explanations = explanation.split(/\nor: /).map((each) => each.replace(/\n\(and \d+ more\)$/, ""));
    const newest = { type, context, explanations, hints: texts(hints) };
    const older = earlier.map(([oldType, oldExplanation, oldHints]) => ({
      type: oldType, context: "", explanations: [oldExplanation], hints: texts(oldHints),
    }));
    const releases = [...index.releases].reverse();
    const statusName = index.statuses[status];
    return {
      kind: "break", id, path: `gb/${id.toLowerCase()}.html`, title: type,
      summary: how || explanations[0] || "",
      wordings: [newest, ...older],
      category: index.categories[category] || "",
      status: statusName,
      live: statusName === "live" || statusName === "new",
      // One letter per release, oldest first: l, r or a for live, retired or absent.
      marks,
      releases: releases.filter((_, number) => marks[number] === "l"),
      introduced: releases[marks.search(/[^a]/)] || "",
      fixable: index.fixable[fixable] || "",
      example: Boolean(example), prior,
      fields: {
        users, title: type, explanation: explanations.join(" "), how, code, info, context,
        hints: newest.hints.join(" "),
        older: older.map((each) => [each.type, ...each.explanations].join(" ")).join(" "),
        category: index.titles[category] || "",
      },
    };
  }

  function pageOf([kind, path, title, summary, headings, body, users]) {
    return {
      // A note is about an id that no release has.
      kind, id: kind === "note" ? headings : "", path: `${path}.html`, title, summary, live: true, prior: 0,
      fields: { users, title, summary, headings, body },
    };
  }

  /* `GB0124`, `gb124`, `0124` or a page's address: an id and nothing else. */
  function idIn(text) {
    const match = /^\s*(?:gb)?[\s#-]*(\d{1,6})\s*$/i.exec(text) || /^\s*\S*gb(\d{4,6})(?:\.html?)?(?:[?#]\S*)?\s*$/i.exec(text);
    return match ? `GB${String(Number(match[1])).padStart(4, "0")}` : null;
  }

  class Search {
    constructor(index) {
      this.index = index;
      this.entries = index.entries.map((row) => breakOf(row, index));
      this.numbers = new Map(this.entries.map((entry, number) => [entry.id, number]));
      this.pages = [...this.entries, ...index.pages.map(pageOf)];
      this.pages.forEach(({ kind, id }, number) => kind === "note" && this.numbers.set(id, number));
    }

    // Prepared on first use: a page that is only read needs neither.
    get messages() {
      return (this.preparedMessages ??= new Messages(this.entries));
    }

    get words() {
      return (this.preparedWords ??= new Words(this.pages, this.index));
    }

    /* The pages for a query, best first: `{entry, by}`. `by` is "words" or "near" for a page that was
       found by words, "start" for an id that is not complete, and otherwise what names the break. */
    find(query) {
      const text = query.slice(-LONGEST_QUERY); // in a log, the error comes last
      const found = this.byId(text);
      if (!found.length) found.push(...this.messages.find(text));
      if (!found.length) found.push(...this.idsIn(text));
      const seen = new Set();
      const first = found.filter(({ number }) => !seen.has(number) && seen.add(number));
      const others = idIn(text) ? [] : this.words.find(focused(text)).filter(({ number }) => !seen.has(number));
      return [
        ...first.map(({ number, by }) => ({ entry: this.pages[number], by })),
        ...others.map(({ number, isFar }) => ({ entry: this.pages[number], by: isFar ? "near" : "words" })),
      ];
    }

    byId(text) {
      const id = idIn(text);
      if (!id) return [];
      const exact = this.numbers.has(id) ? [{ number: this.numbers.get(id), by: "id" }] : [];
      const digits = /\d+/.exec(text)[0];
      const begun = [...this.numbers].filter(([known]) => known.startsWith(`GB${digits}`));
      return [...exact, ...begun.map(([, number]) => ({ number, by: "start" }))];
    }

    idsIn(text) {
      return [...text.matchAll(/(?<![A-Za-z0-9])GB(\d{4,6})(?!\d)/gi)]
        .map((match) => this.numbers.get(`GB${match[1]}`))
        .filter((number) => number !== undefined)
        .map((number) => ({ number, by: "id" }));
    }

    /* The part of a query that is worth a place in an address. */
    shareable(query, most = 200) {
      const text = query.trim();
      if (text.length <= most && !text.includes("\n")) return text;
      const [first] = this.find(text);
      if (first && isSure(first)) return first.entry.id;
      return text.split("\n").find((line) => line.trim()).trim().slice(0, most);
    }
  }

  /* Of a long text the message itself: a stack around it has words, too. */
  function focused(text) {
    const field = text.indexOf(FIELD);
    if (text.length < 400) return text;
    if (field < 0) return raisedIn(text) || text;
    const after = text.slice(field);
    const end = after.search(/Developer debug context:|For more details|from user code/);
    return text.slice(Math.max(0, field - 200), end < 0 ? field + 2000 : field + end);
  }

  /* The line of a traceback that names the exception, such as `torch._dynamo.exc.UserError: ...`. Of
     several tracebacks the last one counts. */
  function raisedIn(text) {
    const lines = [...text.matchAll(/^(?:[a-z_]\w*\.)*[A-Z]\w+: .+$/gm)];
    return /^Traceback /m.test(text) && lines.length ? lines[lines.length - 1][0] : "";
  }

  /* Whether a text names the break of a result, by an id or as a message. */
  function isSure({ by }) {
    return !["words", "near", "start"].includes(by);
  }

  scope.FullgraphSearch = { Search, wordsOf, isSure };
})(typeof window === "undefined" ? globalThis : window);
