"use strict";
/* Finds breaks by words: fields count differently, and beginnings of words and small typos are
   understood. */
(function (scope) {
  const WEIGHTS = { type: 5, explanation: 2, how: 1.5, hints: 0.8, context: 0.7, older: 1, category: 1 };
  const PART = 0.5;
  const STOP = new Set(
    "a an and are as at be by can do does for from how i if in is it its me my not of on or so than that the then there this to torch use was what when why will with you your".split(" ")
  );

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

  scope.FullgraphWords = { Words, wordsOf };
})(typeof window === "undefined" ? globalThis : window);
