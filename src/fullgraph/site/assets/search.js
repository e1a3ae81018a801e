"use strict";
/* Finds breaks by id, by a pasted message or by words.

   A message is compared without white space, because terminals wrap lines; what logs, quoting and
   terminals added is removed first. A whole message is found by its type, which stands right before
   `Explanation:`; a part by the fixed pieces of an explanation, a hint or a context, in their order.
   Everything else is looked up as words, with fields that count differently, beginnings of words
   and small typos. */
(function (scope) {
  const COLOR = /\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|[\u200b\ufeff]/g;
  const MARGIN = /^[ \t]*(?:[>|│┃#][ \t]?|E {2,})+/gm;
  // `[rank0]:V1116 00:01:58.989000 4463 torch/_dynamo/x.py:1759] [5/0] [__graph_breaks]`, squeezed.
  const PREFIX =
    /(?:\[rank\d+\]:)?[VIWEDC]\d{4}\d\d:\d\d:\d\d\.\d{3,6}\d+[^\][]{1,300}?:\d+\](?:\[[\w./!-]{1,40}\])*/g;
  const HOLE = /‹[^›]*›/;
  const FIELD = "Explanation:";
  const LAST_FIELD = "Developerdebugcontext:";
  const NEXT = "***Whilehandlingthisgraphbreak,anothergraphbreakoccurred:***";
  const OPERATOR = /HigherOrderOperator:.{1,120}?$/;
  const LINK = /\/gb\/?gb(\d{4,})\.html/gi;
  // Shorter pieces of fixed text are found in too many places to say anything.
  const SHORTEST = 16;
  const SHORTEST_TYPE = 6;
  const LONGEST_QUERY = 20000;

  const WEIGHTS = { type: 5, explanation: 2, how: 1.5, hints: 0.8, context: 0.7, older: 1, category: 1 };
  const PART = 0.5;
  const STOP = new Set(
    "a an and are as at be by can do does for from how i if in is it its me my not of on or so than that the then there this to torch use was what when why will with you your".split(" ")
  );

  function squeezed(text) {
    return text.replace(/\s+/g, "");
  }

  function piecesOf(text) {
    return text.split(HOLE).map(squeezed).filter(Boolean);
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
      if (!HOLE.test(type)) {
        const key = squeezed(type);
        if (!key) return;
        const known = this.types.get(key) || [];
        if (!known.some((each) => each.number === number)) known.push({ number, age, by: "type" });
        this.types.set(key, known);
      } else if (type.split(HOLE).some((part) => part.trim())) {
        const source = type.split(HOLE).map((part) => escaped(squeezed(part))).join(".{1,200}?");
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
        // An explanation can mention what is the type of another entry.
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
      // Only what ends a message: a value can hold the word `Explanation:` as well.
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

  // Words

  /* The words of a text with how much they count; a part of a name counts less than all of it. */
  function countedWords(text) {
    const found = [];
    for (const [token] of text.matchAll(/[\p{L}\p{N}_]+/gu)) {
      const whole = stemmed(token.toLowerCase().replace(/^_+|_+$/g, ""));
      if (!whole) continue;
      found.push([whole, 1]);
      const parts = token.split(/_+|(?<=[a-z0-9])(?=[A-Z])/).filter((part) => part.length > 1);
      if (parts.length > 1) found.push(...parts.map((part) => [stemmed(part.toLowerCase()), PART]));
    }
    return found;
  }

  function wordsOf(text) {
    return countedWords(text).map(([word]) => word);
  }

  function stemmed(word) {
    return word.length > 3 && word.endsWith("s") && !word.endsWith("ss") ? word.slice(0, -1) : word;
  }

  /* Whether two words differ by at most `most` letters (put in, left out, changed or swapped). */
  function isNear(one, other, most) {
    if (Math.abs(one.length - other.length) > most) return false;
    let before = [];
    let row = Array.from({ length: other.length + 1 }, (_, index) => index);
    for (let i = 1; i <= one.length; i++) {
      const next = [i];
      for (let j = 1; j <= other.length; j++) {
        const same = one[i - 1] === other[j - 1];
        next[j] = Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (same ? 0 : 1));
        if (i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1]) {
          next[j] = Math.min(next[j], before[j - 2] + 1);
        }
      }
      if (Math.min(...next) > most) return false;
      before = row;
      row = next;
    }
    return row[other.length] <= most;
  }

  class Words {
    constructor(entries) {
      this.size = entries.length;
      this.postings = new Map();
      const fields = entries.map((entry) => fieldsOf(entry));
      const means = {};
      for (const name of Object.keys(WEIGHTS)) {
        const sum = fields.reduce((length, field) => length + field[name].length, 0);
        means[name] = sum / Math.max(1, entries.length) || 1;
      }
      fields.forEach((field, number) => this.add(field, number, means));
      this.vocabulary = [...this.postings.keys()].sort();
    }

    add(fields, number, means) {
      for (const [name, words] of Object.entries(fields)) {
        const long = 0.4 + (0.6 * words.length) / means[name];
        for (const [word, counts] of words) {
          const posting = this.postings.get(word) || new Map();
          posting.set(number, (posting.get(number) || 0) + (counts * WEIGHTS[name]) / long);
          this.postings.set(word, posting);
        }
      }
    }

    /* Words of the index that a word of the query can mean, with how much they count. */
    meanings(word, isShort) {
      const found = new Map();
      if (this.postings.has(word)) found.set(word, 1);
      if (isShort && word.length >= 2) {
        for (const known of this.vocabulary) {
          if (known !== word && known.startsWith(word)) found.set(known, 0.75 * (word.length / known.length));
        }
      }
      if (found.size || word.length < 4) return found;
      const most = word.length >= 8 ? 2 : 1;
      for (const known of this.vocabulary) {
        if (known.length >= 3 && isNear(word, known, most)) found.set(known, 0.5);
      }
      return found;
    }

    find(text) {
      const all = [...new Set(wordsOf(text))].slice(0, 300);
      const telling = all.filter((word) => !STOP.has(word));
      const words = telling.length ? telling : all;
      const isShort = words.length <= 12;
      const scores = new Map();
      for (const word of words) {
        for (const [number, score] of this.scoresOf(word, isShort)) {
          const known = scores.get(number) || { number, score: 0, words: 0 };
          known.score += score;
          known.words += 1;
          scores.set(number, known);
        }
      }
      const found = [...scores.values()];
      const most = Math.max(0, ...found.map((each) => each.words));
      return found
        .filter((each) => each.words >= 0.6 * most)
        .map((each) => ({ ...each, score: each.score * (each.words / words.length) ** 2 }));
    }

    scoresOf(word, isShort) {
      const best = new Map();
      for (const [known, weight] of this.meanings(word, isShort)) {
        const posting = this.postings.get(known);
        const idf = Math.log(1 + (this.size - posting.size + 0.5) / (posting.size + 0.5));
        for (const [number, frequency] of posting) {
          const score = (weight * idf * frequency) / (1.2 + frequency);
          if (score > (best.get(number) || 0)) best.set(number, score);
        }
      }
      return best;
    }
  }

  function fieldsOf(entry) {
    const [newest, ...older] = entry.wordings;
    return {
      type: countedWords(newest.type),
      explanation: countedWords(newest.explanations.join(" ")),
      how: countedWords(entry.how),
      hints: countedWords(newest.hints.join(" ")),
      context: countedWords(newest.context),
      older: countedWords(older.map((each) => [each.type, ...each.explanations].join(" ")).join(" ")),
      category: countedWords(entry.categoryTitle),
    };
  }

  function entryOf(row, index) {
    const [id, type, explanation, context, hints, earlier, how, category, status, live, first, fixable, example] = row;
    const texts = (numbers) => numbers.map((number) => index.hints[number]);
    // Where torch has a variable, there can be several explanations.
    const explanations = explanation.split(/\nor: /).map((each) => each.replace(/\n\(and \d+ more\)$/, ""));
    return {
      id, how, explanation: explanations[0] || "", type,
      wordings: [
        { type, context, explanations, hints: texts(hints) },
        ...earlier.map(([oldType, oldExplanation, oldHints]) => ({
          type: oldType, context: "", explanations: [oldExplanation], hints: texts(oldHints),
        })),
      ],
      category: index.categories[category] || "",
      categoryTitle: index.titles[category] || "",
      status: index.statuses[status],
      live: index.statuses[status] === "live",
      releases: index.releases.filter((_, number) => live & (1 << number)),
      introduced: index.releases[first] || "",
      fixable: index.fixable[fixable] || "",
      example: Boolean(example),
    };
  }

  /* `GB0124`, `gb124`, `0124` or a page's address: an id and nothing else. */
  function idIn(text) {
    const match = /^\s*(?:gb)?[\s#-]*(\d{1,6})\s*$/i.exec(text) || /^\s*\S*gb(\d{4,6})(?:\.html?)?(?:[?#]\S*)?\s*$/i.exec(text);
    return match ? `GB${String(Number(match[1])).padStart(4, "0")}` : null;
  }

  class Search {
    constructor(index) {
      this.entries = index.entries.map((row) => entryOf(row, index));
      this.numbers = new Map(this.entries.map((entry, number) => [entry.id, number]));
    }

    // Prepared when they are first needed: a page that is only read needs neither.
    get messages() {
      return (this.preparedMessages ??= new Messages(this.entries));
    }

    get words() {
      return (this.preparedWords ??= new Words(this.entries));
    }

    /* The entries for a query, best first: `{entry, by}`. */
    find(query) {
      const text = query.slice(0, LONGEST_QUERY);
      const found = this.byId(text);
      if (!found.length) found.push(...this.messages.find(text));
      if (!found.length) found.push(...this.idsIn(text));
      const seen = new Set();
      const first = found.filter(({ number }) => !seen.has(number) && seen.add(number));
      const others = idIn(text) ? [] : this.words.find(focused(text)).filter(({ number }) => !seen.has(number));
      for (const each of others) if (!this.entries[each.number].live) each.score *= 0.97;
      others.sort((a, b) => b.score - a.score || a.number - b.number);
      return [...first, ...others.map(({ number }) => ({ number, by: "words" }))].map(({ number, by }) => ({
        entry: this.entries[number], by,
      }));
    }

    byId(text) {
      const id = idIn(text);
      if (!id) return [];
      const exact = this.numbers.has(id) ? [{ number: this.numbers.get(id), by: "id" }] : [];
      const digits = /\d+/.exec(text)[0];
      const begun = [...this.numbers].filter(([known]) => known.startsWith(`GB${digits}`));
      return [...exact, ...begun.map(([, number]) => ({ number, by: "id" }))];
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
      if (first && first.by !== "words") return first.entry.id;
      return text.split("\n").find((line) => line.trim()).trim().slice(0, most);
    }
  }

  /* Of a long text the message itself: a stack around it has words, too. */
  function focused(text) {
    const field = text.indexOf(FIELD);
    if (text.length < 400 || field < 0) return text;
    const after = text.slice(field);
    const end = after.search(/Developer debug context:|For more details|from user code/);
    return text.slice(Math.max(0, field - 200), end < 0 ? field + 2000 : field + end);
  }

  scope.FullgraphSearch = { Search, wordsOf, idIn };
})(typeof window === "undefined" ? globalThis : window);
