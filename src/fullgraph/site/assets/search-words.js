"use strict";
/* Finds pages by words. Fields count differently; endings, beginnings of words, small typos and what
   a word can also mean are understood. Words that are common in this field hardly count. */
(function (scope) {
  const WEIGHTS = {
    users: 6, title: 5, headings: 2.5, how: 2, summary: 2, explanation: 1.5, code: 1.5, info: 1.5,
    body: 1, older: 0.8, category: 0.6, hints: 0.5, context: 0.4,
  };
  // A part of a name counts less than all of it.
  const PART = 0.5;
  // How soon further hits of a word stop to count.
  const SATURATION = 3;
  const COMMON = 0.04;
  // `if` and `while` are words of Python, and of every sentence.
  const KEYWORD = 0.6;
  const MEANING = 0.6;
  const TYPO = 0.45;
  // What a word is worth that no page has.
  const UNKNOWN = 3;
  // Two words that stand side by side, where that says something.
  const PAIR = 0.5;
  const PAIRED = ["users", "title", "headings"];
  const LISTS = ["users", "title"];
  const KINDS = { break: 1, lesson: 0.95, category: 0.85, fixer: 0.9, docs: 0.75 };

  const HAS_PARTS = /[^_]_|[a-z0-9][A-Z]/;

  function tokensOf(text) {
    return text.match(/[\p{L}\p{N}_]+(?:\+\+)?/gu) || [];
  }

  /* Names that are more than their words: with dots, such as `time.time`, or in place, such as `set_`. */
  function namesIn(text) {
    const found = text.match(/[\p{L}_][\p{L}\p{N}_]*(?:\.[\p{L}_][\p{L}\p{N}_]*)+|\p{L}[\p{L}\p{N}_]*_(?![\p{L}\p{N}_])/gu);
    return (found || []).map((name) => name.toLowerCase());
  }

  /* The words of a text with how much they count. */
  function countedWords(text) {
    const found = [];
    for (const token of tokensOf(text)) {
      const whole = token.toLowerCase().replace(/^_+|_+$/g, "");
      if (!whole) continue;
      found.push([whole, 1]);
      if (!HAS_PARTS.test(token)) continue;
      const parts = token.split(/_+|(?<=[a-z0-9])(?=[A-Z])/).filter((part) => part.length > 1);
      if (parts.length > 1) found.push(...parts.map((part) => [part.toLowerCase(), PART]));
    }
    if (/[._]/.test(text)) for (const name of namesIn(text)) found.push([name, 1]);
    return found;
  }

  const ENDINGS = [
    [/(?:ations?|ators?|ating|ated|ates?)$/, 3],
    [/(?:ings?|ed|ers?)$/, 3],
    [/(?:ions?)$/, 4],
    [/(?:es|e|s)$/, 3],
  ];
  const stems = new Map();

  /* A word without its ending: `printing` and `prints` are `print`. */
  function stemmed(word) {
    let stem = stems.get(word);
    if (stem === undefined) stems.set(word, (stem = withoutEnding(word)));
    return stem;
  }

  function withoutEnding(word) {
    if (!/^[a-z]+$/.test(word) || /(?:ss|us|is)$/.test(word)) return word;
    if (word.length > 4 && word.endsWith("ies")) return `${word.slice(0, -3)}y`;
    for (const [ending, shortest] of ENDINGS) {
      const cut = word.replace(ending, "");
      if (cut === word || cut.length < shortest || !/[aeiouy]/.test(cut)) continue;
      // `logging` is `log`, not `logg`.
      return /([bdglmnprt])\1$/.test(cut) ? cut.slice(0, -1) : cut;
    }
    return word;
  }

  /* Other spellings have the same stem. */
  function learnSpellings(same) {
    for (const [word, other] of Object.entries(same)) stems.set(word, withoutEnding(other));
  }

  function wordsOf(text) {
    return countedWords(text).map(([word]) => stemmed(word));
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

  function pairsOf(words) {
    return words.slice(1).map((word, at) => `${words[at]} ${word}`);
  }

  class Words {
    /* `index` has the words that hardly count, and what words can also mean. */
    constructor(entries, index) {
      this.size = entries.length;
      this.entries = entries;
      learnSpellings(index.same);
      this.stop = new Set(index.stop);
      this.common = new Set(index.common.map(stemmed));
      this.postings = new Map();
      this.pairs = new Map();
      // Words as they are written, for beginnings and typos, with their stems.
      this.written = new Map();
      this.readMeanings(index.means);
      const fields = entries.map((entry) => this.fieldsOf(entry));
      const means = {};
      for (const name of Object.keys(WEIGHTS)) {
        const lengths = fields.map((field) => field[name]).filter((words) => words && words.length);
        means[name] = lengths.reduce((sum, words) => sum + words.length, 0) / Math.max(1, lengths.length) || 1;
      }
      fields.forEach((field, number) => this.add(field, number, means));
      this.titles = new Map(entries.map(({ title }, number) => [title.toLowerCase(), number]).reverse());
      this.vocabulary = [...this.written.keys()].sort();
    }

    /* What the words of people who search say is kept whole; in prose, stop words say nothing. */
    fieldsOf(entry) {
      const found = {};
      for (const [name, text] of Object.entries(entry.fields)) {
        const words = countedWords(text);
        found[name] = name === "users" ? words : words.filter(([word]) => !this.stop.has(word));
      }
      return found;
    }

    add(fields, number, means) {
      const frequencies = new Map();
      for (const [name, words] of Object.entries(fields)) {
        // The words of people are a list, not a text: a long one is hardly vaguer.
        const part = name === "users" ? 0.06 : 0.5;
        const weight = WEIGHTS[name] / (1 - part + (part * words.length) / means[name]);
        // Where a text is a title or a list, a word that it repeats does not count twice.
        for (const [word, counts] of LISTS.includes(name) ? new Map(words) : words) {
          const stem = stemmed(word);
          this.written.set(word, stem);
          frequencies.set(stem, (frequencies.get(stem) || 0) + counts * weight);
        }
        if (PAIRED.includes(name)) this.addPairs(words, number, WEIGHTS[name]);
      }
      for (const [stem, frequency] of frequencies) {
        const posting = this.postings.get(stem);
        if (posting) posting.push([number, frequency]);
        else this.postings.set(stem, [[number, frequency]]);
      }
    }

    addPairs(words, number, weight) {
      const whole = words.filter(([, counts]) => counts === 1).map(([word]) => stemmed(word));
      for (const pair of pairsOf(whole)) {
        const posting = this.pairs.get(pair) || new Map();
        posting.set(number, Math.max(weight, posting.get(number) || 0));
        this.pairs.set(pair, posting);
      }
    }

    readMeanings(means) {
      this.means = new Map();
      this.phrases = [];
      for (const [from, to] of Object.entries(means)) {
        const words = tokensOf(from).map(stemmed);
        const targets = [...new Set(countedWords(to).filter(([, counts]) => counts === 1).map(([word]) => stemmed(word)))];
        if (words.length === 1) this.means.set(words[0], [...(this.means.get(words[0]) || []), ...targets]);
        else this.phrases.push({ words, targets });
      }
    }

    idf(posting) {
      const count = posting.size || posting.length;
      return Math.log(1 + (this.size - count + 0.5) / (count + 0.5));
    }

    /* Stems of the index that a word of the query can mean, with how much they count. */
    meanings({ word, stem, also, isLast }, isShort) {
      const found = new Map();
      const put = (known, weight) => {
        if (this.postings.has(known) && weight > (found.get(known) || 0)) found.set(known, weight);
      };
      put(stem, 1);
      // The last word may not be complete yet; others only if nobody writes them so.
      if (isShort && word.length >= 2 && !this.stop.has(word) && (isLast || !found.size)) {
        for (const known of this.beginning(word)) {
          if (known.length > word.length) put(this.written.get(known), 0.75 * (word.length / known.length));
        }
      }
      for (const other of also) put(other, MEANING);
      return found;
    }

    /* The known words that start with a word. */
    *beginning(word) {
      let low = 0;
      let high = this.vocabulary.length;
      while (low < high) {
        const middle = (low + high) >> 1;
        if (this.vocabulary[middle] < word) low = middle + 1;
        else high = middle;
      }
      for (let at = low; at < this.vocabulary.length && this.vocabulary[at].startsWith(word); at++) {
        yield this.vocabulary[at];
      }
    }

    /* Stems of words that are written almost like a word. */
    typos(word) {
      const found = new Map();
      if (word.length < 4) return found;
      const most = word.length >= 8 ? 2 : 1;
      for (const known of this.vocabulary) {
        if (known.length >= 3 && isNear(word, known, most)) found.set(this.written.get(known), TYPO);
      }
      return found;
    }

    /* The words of a query that count, with their weights and what else they can mean. */
    terms(text) {
      const plain = tokensOf(text).map((each) => each.toLowerCase().replace(/^_+|_+$/g, "")).filter(Boolean);
      const names = namesIn(text).filter((name) => this.postings.has(name));
      const written = [...new Set([...plain.slice(0, 300).flatMap((word) => this.orParts(word)), ...names])];
      const all = written.map((word) => {
        const stem = stemmed(word);
        const weight = this.stop.has(word) ? KEYWORD : 1;
        return { word, stem, weight, isLast: word === plain.at(-1), also: this.means.get(stem) || [] };
      });
      const telling = all.filter(({ word, stem }) => !this.isEmpty(word, stem));
      const phrases = this.phrasesIn(plain.map(stemmed));
      if (phrases.length || telling.some(({ stem }) => !this.common.has(stem))) {
        for (const term of telling) if (this.common.has(term.stem)) term.weight = COMMON;
      }
      const found = [...telling, ...phrases];
      return found.length ? found : all;
    }

    /* A name that nobody writes is looked up by its parts. */
    orParts(word) {
      if (!word.includes("_") || this.postings.has(stemmed(word)) || this.means.has(stemmed(word))) return [word];
      for (const known of this.beginning(word)) if (known) return [word];
      return word.split(/_+/).filter(Boolean);
    }

    /* What the phrases of a query mean. */
    phrasesIn(sequence) {
      const starts = (words, at) => words.every((word, step) => sequence[at + step] === word);
      return this.phrases
        .filter(({ words }) => sequence.some((_, at) => starts(words, at)))
        .map(({ words, targets }) => ({ word: words.join(" "), stem: "", weight: 1, also: targets }));
    }

    /* The stems of the words of a query that say something, to mark them. */
    telling(text) {
      return new Set(this.terms(text).filter(({ weight }) => weight >= KEYWORD).map(({ stem }) => stem));
    }

    /* A stop word counts only if it is a word of Python, too, which pages list. */
    isEmpty(word, stem) {
      return this.stop.has(word) && !this.means.has(stem);
    }

    /* The entries for a query, best first: `{number, score, isFar}`. */
    find(text) {
      const terms = this.terms(text);
      const isShort = terms.length <= 12;
      const scores = new Map();
      let total = 0;
      let isFar = true;
      for (const term of terms) {
        let known = this.meanings(term, isShort);
        if (known.size && term.weight >= KEYWORD) isFar = false;
        if (!known.size && !this.stop.has(term.word)) known = this.typos(term.word);
        const worth = term.weight * this.worth(known);
        total += worth;
        for (const [number, { score, weight }] of this.scoresOf(known)) {
          const each = scores.get(number) || { number, score: 0, covered: 0 };
          each.score += score * term.weight;
          each.covered += worth * weight;
          scores.set(number, each);
        }
      }
      this.addScoresOfPairs(terms, scores);
      const titled = scores.get(this.titles.get(text.trim().toLowerCase()));
      if (titled) titled.score *= 3; // somebody who writes a title wants that page
      isFar &&= terms.some(({ weight }) => weight >= KEYWORD);
      const found = [...scores.values()].map(({ number, score, covered }) => ({
        number, isFar, score: score * (covered / total) ** 1.2 * this.likelihood(number),
      }));
      found.sort((a, b) => b.score - a.score || a.number - b.number);
      const least = found.length ? 0.12 * found[0].score : 0;
      return found.filter(({ score }) => score >= least);
    }

    addScoresOfPairs(terms, scores) {
      for (const [at, pair] of pairsOf(terms.map(({ stem }) => stem)).entries()) {
        const posting = this.pairs.get(pair);
        if (!posting) continue;
        const idf = (this.idf(posting) * (terms[at].weight + terms[at + 1].weight)) / 2;
        for (const [number, weight] of posting) {
          const each = scores.get(number);
          if (each) each.score += (PAIR * idf * weight) / (SATURATION + weight);
        }
      }
    }

    /* What a word is worth: rare words say more. */
    worth(known) {
      let most = 0;
      for (const [stem, weight] of known) most = Math.max(most, weight * this.idf(this.postings.get(stem)));
      return most || UNKNOWN;
    }

    scoresOf(known) {
      const best = new Map();
      for (const [stem, weight] of known) {
        const idf = this.idf(this.postings.get(stem));
        for (const [number, frequency] of this.postings.get(stem)) {
          const score = (weight * idf * frequency) / (SATURATION + frequency);
          if (score > (best.get(number)?.score || 0)) best.set(number, { score, weight });
        }
      }
      return best;
    }

    /* Some pages are looked for more often than others. */
    likelihood(number) {
      const { kind, prior, live } = this.entries[number];
      const asked = prior < 0 ? 0.8 : 1 + 0.12 * Math.log2(1 + prior);
      return KINDS[kind] * (live ? 1 : 0.85) * asked;
    }
  }

  scope.FullgraphWords = { Words, wordsOf };
})(typeof window === "undefined" ? globalThis : window);
