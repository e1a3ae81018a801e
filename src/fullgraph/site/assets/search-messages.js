"use strict";
/* Finds breaks in a pasted text.

   Everything is compared without white space, because terminals wrap lines; what logs, quoting and
   terminals added is removed first. A whole message is found by its type, which stands right before
   `Explanation:`; a part by the fixed pieces of an explanation, a hint or a context, in their order. */
(function (scope) {
  const COLOR = /\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|[\u200b\ufeff]/g;
  const MARGIN = /^[ \t]*(?:[>|│┃#][ \t]?|E {2,})+/gm;
  // `[rank0]:V1116 00:01:58.989000 4463 torch/_dynamo/x.py:1759] [5/0] [__graph_breaks]`, without white space.
  const PREFIX =
    /(?:\[rank\d+\]:)?[VIWEDC]\d{4}\d\d:\d\d:\d\d\.\d{3,6}\d+[^\][]{1,300}?:\d+\](?:\[[\w./!-]{1,40}\])*/g;
  const PLACEHOLDER = /‹[^›]*›/;
  const FIELD = "Explanation:";
  const LAST_FIELD = "Developerdebugcontext:";
  const NEXT = "***Whilehandlingthisgraphbreak,anothergraphbreakoccurred:***";
  const OPERATOR = /HigherOrderOperator:.{1,120}?$/;
  const LINK = /\/gb\/?gb(\d{4,})\.html/gi;
  // Shorter fixed text occurs in too many entries.
  const SHORTEST = 16;
  const SHORTEST_TYPE = 6;

  function compact(text) {
    return text.replace(/\s+/g, "");
  }

  function piecesOf(text) {
    return text.split(PLACEHOLDER).map(compact).filter(Boolean);
  }

  function inOrder(pieces, text) {
    let position = 0;
    for (const piece of pieces) {
      position = text.indexOf(piece, position);
      if (position < 0) return false;
      position += piece.length;
    }
    return pieces.length > 0;
  }

  function escaped(text) {
    return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  }

  function total(pieces) {
    return pieces.reduce((sum, piece) => sum + piece.length, 0);
  }

  /* A pasted text without white space; `starts` are the places where a word began. */
  class Pasted {
    constructor(text) {
      const words = text.replace(COLOR, "").replace(MARGIN, "").split(/\s+/).filter(Boolean);
      const whole = words.join("");
      const starts = new Set([0]);
      let length = 0;
      for (const word of words) starts.add((length += word.length));
      this.text = whole;
      this.starts = starts;
      const prefixes = [...whole.matchAll(PREFIX)];
      if (prefixes.length) this.cut(prefixes);
    }

    cut(matches) {
      const whole = this.text;
      const ordered = [...this.starts].sort((a, b) => a - b);
      const starts = new Set();
      let text = "";
      let position = 0;
      for (const [start, end] of [
        ...matches.map((match) => [match.index, match.index + match[0].length]),
        [whole.length, whole.length],
      ]) {
        starts.add(text.length);
        for (const each of ordered) {
          if (each >= position && each < start) starts.add(each - position + text.length);
        }
        text += whole.slice(position, start);
        position = end;
      }
      this.text = text;
      this.starts = starts;
    }

    isBoundary(position) {
      if (this.starts.has(position) || position <= 0 || position >= this.text.length) return true;
      const letter = /[\p{L}\p{N}]/u;
      return !(letter.test(this.text[position - 1]) && letter.test(this.text[position]));
    }
  }

  /* Looks texts up by what torch writes. */
  class Messages {
    constructor(entries) {
      this.entries = entries;
      this.types = new Map();
      this.openTypes = [];
      entries.forEach((entry, number) => {
        entry.wordings.forEach((wording, age) => this.addType(wording.type, number, age));
      });
      for (const known of this.types.values()) known.sort((a, b) => (a.age > 0) - (b.age > 0));
      this.longest = Math.max(0, ...[...this.types.keys()].map((type) => type.length));
      this.forms = {
        explanation: this.formsOf((wording) => wording.explanations),
        hint: this.ownHints(),
        context: this.formsOf((wording) => [wording.context]),
      };
    }

    addType(type, number, age) {
      if (!PLACEHOLDER.test(type)) {
        const key = compact(type);
        if (!key) return;
        const known = this.types.get(key) || [];
        if (!known.some((each) => each.number === number)) known.push({ number, age, by: "type" });
        this.types.set(key, known);
      } else if (type.split(PLACEHOLDER).some((part) => part.trim())) {
        const source = type.split(PLACEHOLDER).map((part) => escaped(compact(part))).join(".{1,200}?");
        this.openTypes.push({ source, found: [{ number, age, by: "type" }] });
      }
    }

    formsOf(textsOf) {
      const forms = [];
      this.entries.forEach((entry, number) => {
        for (const wording of entry.wordings) {
          for (const text of textsOf(wording)) {
            const pieces = piecesOf(text);
            if (pieces.some((piece) => piece.length >= SHORTEST)) {
              forms.push({ number, pieces, weight: total(pieces) });
            }
          }
        }
      });
      return forms;
    }

    /* Hints that only one entry has; the shared ones say nothing. */
    ownHints() {
      const forms = this.formsOf((wording) => wording.hints);
      const owners = new Map();
      for (const form of forms) {
        const key = form.pieces.join("\n");
        owners.set(key, (owners.get(key) || new Set()).add(form.number));
      }
      return forms.filter((form) => owners.get(form.pieces.join("\n")).size === 1);
    }

    /* The breaks that a text is about, in its order. */
    find(text) {
      const pasted = new Pasted(text);
      const found = [];
      for (const [start, end] of spans(pasted.text)) found.push(...this.inMessage(pasted, start, end));
      return found;
    }

    inMessage(pasted, start, end) {
      const field = pasted.text.slice(0, end).indexOf(FIELD, start);
      if (field < 0) return this.inProse(pasted, start, end);
      const rest = pasted.text.slice(field, end);
      const operator = OPERATOR.exec(pasted.text.slice(start, field));
      const found =
        this.ending(pasted, start, field) ||
        (operator && this.ending(pasted, start, start + operator.index)) ||
        this.byWords(rest) ||
        this.linked(rest);
      return found ? this.toldApart(found, rest) : [];
    }

    /* The longest type that ends where the fields begin. */
    ending(pasted, start, end) {
      for (let begin = Math.max(start, end - this.longest); begin < end; begin++) {
        const found = this.types.get(pasted.text.slice(begin, end));
        if (found && pasted.isBoundary(begin)) return found;
      }
      const tail = pasted.text.slice(Math.max(start, end - 400), end);
      const open = this.openTypes.find(({ source }) => new RegExp(`(?:${source})$`).test(tail));
      return open ? open.found : null;
    }

    /* A part of a message, or a text that only mentions types. */
    inProse(pasted, start, end) {
      const text = pasted.text.slice(start, end);
      let types = this.typesIn(pasted, start, end);
      const words = this.byWords(text);
      if (words && words[0].by === "explanation" && types.length === 1) {
        // An explanation can contain the type of another entry.
        const named = new Set(types[0].map((each) => each.number));
        if (!words.some((each) => named.has(each.number))) types = [];
      }
      const groups = types.length ? types : [words || this.linked(text) || []];
      return groups.flatMap((found) => this.toldApart(found, text));
    }

    /* The types in a text, in its order; of two that overlap, the longer. */
    typesIn(pasted, begin, stop) {
      const text = pasted.text.slice(0, stop);
      const hits = [];
      for (const [type, found] of this.types) {
        if (type.length < SHORTEST_TYPE) continue;
        let start = text.indexOf(type, begin);
        while (start >= 0) {
          const end = start + type.length;
          if (pasted.isBoundary(start) && pasted.isBoundary(end)) hits.push({ start, end, found });
          start = text.indexOf(type, end);
        }
      }
      const part = text.slice(begin);
      for (const { source, found } of this.openTypes) {
        for (const match of part.matchAll(new RegExp(source, "g"))) {
          const start = begin + match.index;
          hits.push({ start, end: start + match[0].length, found });
        }
      }
      hits.sort((a, b) => a.start - b.start || b.end - a.end);
      let reached = 0;
      return hits.filter(({ start, end }) => start >= reached && (reached = end)).map((hit) => hit.found);
    }

    /* Entries with all fixed pieces of an explanation, an own hint or a context in the text. */
    byWords(text) {
      for (const [by, forms] of Object.entries(this.forms)) {
        let most = 0;
        let best = [];
        for (const form of forms) {
          if (form.weight < most || !inOrder(form.pieces, text)) continue;
          if (form.weight > most) best = [];
          most = form.weight;
          if (!best.some((each) => each.number === form.number)) best.push({ number: form.number, by });
        }
        if (best.length) return best;
      }
      return null;
    }

    linked(text) {
      for (const match of text.matchAll(LINK)) {
        const number = this.entries.findIndex((entry) => entry.id === `GB${match[1]}`);
        if (number >= 0) return [{ number, by: "link" }];
      }
      return null;
    }

    /* Of entries with the same type, first those whose other fields fit the text best. */
    toldApart(found, text) {
      if (found.length < 2) return found;
      const linked = this.linked(text);
      const scored = found.map((each) => ({
        each,
        link: linked && linked[0].number === each.number ? 1 : 0,
        fit: this.fit(each.number, text),
        live: this.entries[each.number].live ? 1 : 0,
      }));
      scored.sort((a, b) => b.fit - a.fit || b.link - a.link || b.live - a.live);
      return scored.map(({ each }) => each);
    }

    fit(number, text) {
      const fits = this.entries[number].wordings.map((wording) =>
        [...wording.explanations, wording.context, ...wording.hints]
          .map(piecesOf)
          .filter((pieces) => inOrder(pieces, text))
          .reduce((sum, pieces) => sum + total(pieces), 0)
      );
      return Math.max(0, ...fits);
    }
  }

  /* Where each break of a text is: a log holds one message after the other. */
  function spans(text) {
    const found = [];
    let start = 0;
    for (const part of text.split(NEXT)) {
      const end = start + part.length;
      found.push(...fieldSpans(text, start, end));
      start = end + NEXT.length;
    }
    return found;
  }

  function fieldSpans(text, start, end) {
    const found = [];
    let cut = start;
    let field = text.indexOf(FIELD, start);
    while (field >= 0 && field < end) {
      const next = text.indexOf(FIELD, field + 1);
      if (next < 0 || next >= end) break;
      // A value can contain the word `Explanation:`, so look for the last field of a message.
      const tail = text.lastIndexOf(LAST_FIELD, next);
      if (tail > field) {
        found.push([cut, tail + LAST_FIELD.length]);
        cut = tail + LAST_FIELD.length;
      }
      field = next;
    }
    found.push([cut, end]);
    return found;
  }

  scope.FullgraphMessages = { Messages, FIELD };
})(typeof window === "undefined" ? globalThis : window);
