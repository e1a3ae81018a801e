"use strict";
/* The search box of every page: loads the index when it is first used, shows what was found, and
   handles the keys. The home page adds filters and an address (home.js). */
(function (scope) {
  const SCRIPTS = ["search-messages", "search-words", "search"];
  const KINDS = { break: "Break", lesson: "Lesson", fixer: "Fixer", category: "Category", docs: "Docs", note: "Note" };
  const SHORT_NAMES = { retired: "retired", removed: "removed", new: "new", later: "later", unknown: "unknown" };
  // What in a text names the break. Of the others, a text has only a part of the message.
  const CERTAIN = ["id", "link", "type"];

  function element(name, className, ...content) {
    const made = document.createElement(name);
    if (className) made.className = className;
    made.append(...content);
    return made;
  }

  /* A text of the registry with its placeholders and code, and with the words of the query marked. */
  function rich(text, words = new Set()) {
    const parts = [];
    for (const part of text.split(/(‹[^›]*›|`[^`\n]+`)/)) {
      if (/^‹.*›$/.test(part)) parts.push(element("var", "", wordsFor(part.slice(1, -1))));
      else if (/^`.+`$/.test(part)) parts.push(element("code", "", ...marked(part.slice(1, -1), words)));
      else parts.push(...marked(part, words));
    }
    return parts;
  }

  /* Words for a part of a message that is known only at run time. */
  function wordsFor(name) {
    return window.FULLGRAPH_INDEX.placeholders[name] || name.replaceAll("_", " ");
  }

  function marked(text, words) {
    if (!words.size) return [text];
    return text.split(/([\p{L}\p{N}_]+)/u).map((part) => {
      const isHit = part.length > 2 && FullgraphSearch.wordsOf(part).some((word) => words.has(word));
      return isHit ? element("mark", "", part) : part;
    });
  }

  function firstSentence(text) {
    return text.split(/(?<=[.!?])\s+(?=[A-Z`‹])/)[0];
  }

  /* The variant of a break that a text is about: its message names the function. */
  function variantFor(query, variants) {
    if (!query.includes("`")) return variants[0];
    const names = new Set([...query.matchAll(/`(?:[\w.]+\.)?(\w+)`/g)].map((match) => match[1]));
    return variants.find(([functions]) => functions.split(" ").some((name) => names.has(name)));
  }

  /* What a pasted message gives as its explanation; empty without one. */
  function explanationIn(query) {
    const match = /Explanation:\s*(.+?)\s*(?:Hint:|Developer debug context:|$)/s.exec(query);
    return match ? match[1].replace(/\s+/g, " ") : "";
  }

  class SearchBox {
    constructor(form) {
      this.form = form;
      this.root = form.dataset.root;
      this.box = form.querySelector("textarea");
      this.clearButton = form.querySelector(".clear");
      this.panel = form.querySelector(".panel");
      this.count = document.getElementById("count");
      this.answer = document.getElementById("answer");
      this.results = document.getElementById("results");
      this.more = document.querySelector(".more");
      this.most = this.panel ? 8 : 40;
      this.found = [];
      this.shown = 0;
      this.listen();
    }

    // The index

    /* The search itself, loaded on first use, so that pages stay light. */
    load() {
      this.loading ??= this.loadAll();
      return this.loading;
    }

    async loadAll() {
      const scripts = SCRIPTS.map((name) => `assets/${name}.js`);
      await Promise.all(["search-index.js", ...scripts].map((path) => this.script(path)));
      this.search = new FullgraphSearch.Search(window.FULLGRAPH_INDEX);
      // Prepare the first search while the browser is idle.
      (window.requestIdleCallback || setTimeout)(() => this.search.find("ready"));
      return this.search;
    }

    script(path) {
      return new Promise((resolve, reject) => {
        const tag = document.createElement("script");
        // The version of the scripts, so that an old index does not meet new ones.
        tag.src = `${this.root}${path}?v=${this.form.dataset.assets}`;
        tag.async = false; // in this order
        tag.onload = resolve;
        tag.onerror = () => reject(new Error(`${path} could not be loaded`));
        document.head.append(tag);
      });
    }

    /* How to fix the breaks, which only a recognized error needs. */
    fixes() {
      this.loadingFixes ??= this.script("search-fixes.js").then(() => window.FULLGRAPH_FIXES);
      return this.loadingFixes;
    }

    // Showing

    /* Whether a page may be a result; the home page has filters. */
    accepts() {
      return true;
    }

    async update() {
      const query = this.box.value.trim();
      this.clearButton.hidden = !this.box.value;
      this.grow();
      this.toggle(Boolean(query));
      if (!query) return this.clearResults();
      if (!this.search) {
        this.say("Loading …");
        try {
          await this.load();
        } catch {
          return this.say("The search could not be loaded. Try again, or look in the list of all breaks.");
        }
      }
      // Somebody may have gone on typing meanwhile.
      if (this.box.value.trim() === query) this.show(query);
    }

    toggle(isSearching) {
      if (this.panel) this.panel.hidden = !isSearching;
      else this.results.hidden = !isSearching;
    }

    clearResults() {
      this.found = [];
      this.results.replaceChildren();
      this.answer.replaceChildren();
      this.answer.hidden = true;
      this.more.hidden = true;
      this.say("");
      this.count.classList.remove("unseen");
    }

    show(query) {
      const anywhere = this.search.find(query);
      const found = anywhere.filter(({ entry }) => this.accepts(entry));
      const known = found.length && FullgraphSearch.isSure(found[0]) ? found[0] : null;
      this.words = this.search.words.telling(query.slice(0, 400));
      this.showAnswer(known, query);
      this.found = known ? found.slice(1) : found;
      this.shown = 0;
      this.results.replaceChildren();
      this.results.hidden = !this.found.length;
      this.showMore();
      this.say(this.summary(query, known, anywhere.length));
      // The card says it, too; only screen readers need the sentence.
      this.count.classList.toggle("unseen", Boolean(known));
      if (this.panel) this.linkToAll(query, found.length);
      document.dispatchEvent(new Event("fullgraph-results")); // for the switch "Your torch"
    }

    /* What was found, in a sentence; a text that nothing matches is said before near matches. */
    summary(query, known, anywhere) {
      const { length } = this.found;
      const others = `${length} ${known ? "other " : ""}${length === 1 ? "result" : "results"}`;
      if (known) return `Recognized: ${known.entry.id}${length ? `, and ${others}` : ""}`;
      if (!length && anywhere) return `Nothing with these filters, ${anywhere} without them.`;
      if (!length) return "Nothing found. Try fewer words, or paste the line above “Explanation:”.";
      const isMessage = query.length > 200 || query.includes("\n");
      if (isMessage) return `This text has no message that is known. ${capital(others)} by its words:`;
      if (this.found[0].by === "near") return "Nothing matches. These are written almost like it:";
      return others;
    }

    say(text) {
      if (this.count.textContent !== text) this.count.textContent = text;
    }

    showMore() {
      for (const result of this.found.slice(this.shown, this.shown + this.most)) {
        this.results.append(this.row(result));
      }
      this.shown = Math.min(this.found.length, this.shown + this.most);
      this.more.hidden = this.shown >= this.found.length;
    }

    linkToAll(query, count) {
      const link = this.more.querySelector("a");
      link.textContent = `All ${count} results`;
      link.href = `${this.root}index.html?q=${encodeURIComponent(this.search.shareable(query))}`;
    }

    row({ entry, by }) {
      const link = element("a", "", element("span", "kind", KINDS[entry.kind]));
      link.href = this.root + entry.path;
      if (entry.id) link.append(" ", element("span", "id", entry.id));
      link.append(" ", element("span", "type", ...rich(entry.title)));
      const row = element("li", "", link, this.badges(entry));
      if (entry.marks) row.dataset.marks = entry.marks;
      const why = element("p", "why", ...rich(firstSentence(entry.summary), this.words));
      if (FullgraphSearch.isSure({ by })) why.prepend(element("span", "found", "Also in your text. "));
      if (why.textContent) row.append(why);
      return row;
    }

    badges(entry) {
      const badges = element("span", "meta");
      if (entry.kind === "break" && SHORT_NAMES[entry.status]) {
        badges.append(element("span", `badge ${entry.status}`, SHORT_NAMES[entry.status]));
      }
      if (entry.example) badges.append(element("span", "tag", "example"));
      return badges;
    }

    /* A recognized error: what it is, and its fix. */
    showAnswer(known, query) {
      this.answer.replaceChildren();
      this.answer.hidden = !known;
      if (!known) return;
      const { entry, by } = known;
      const link = element("a", "", element("span", "id", entry.id), " ", ...rich(entry.title));
      link.href = this.root + entry.path;
      const verb = CERTAIN.includes(by) ? "This is " : "This looks like ";
      const card = element("article", "card", element("h2", "", verb, link), this.badges(entry));
      if (entry.marks) card.dataset.marks = entry.marks;
      this.answer.append(card);
      const add = (fixes) => this.addFix(card, entry, fixes[entry.id] || ["", "", "", ""], query);
      this.fixes().then(add, () => add({}));
    }

    addFix(card, entry, [advice, change, fixers, gone, variants], query) {
      const variant = variantFor(query, variants || []);
      const [, what, text, lines] = variant || ["", "", advice, change];
      // An example with another function says nothing about this one, but the message does.
      const said = variants && !variant ? explanationIn(query) : what || entry.summary;
      if (said) card.append(element("p", "", ...rich(firstSentence(said))));
      const fix = element("div", "remedy");
      if (gone) fix.append(element("p", "", `torch ${gone} and later do not raise it.`));
      if (text) fix.append(element("p", "", element("b", "", "Fix: "), ...rich(text)));
      if (lines) fix.append(this.change(lines));
      // The fixers are for the first of several variants.
      const isUsual = !variants || variant === variants[0];
      if (fixers && isUsual) fix.append(element("p", "", ...this.byTool(fixers.split(" "))));
      const button = element("a", "button", "Read all about it");
      button.href = this.root + entry.path;
      fix.append(element("p", "", button));
      card.append(fix);
    }

    change(lines) {
      const code = element("code");
      for (const line of lines.split("\n")) {
        const name = { "-": "del", "+": "ins" }[line[0]] || "span";
        code.append(element(name, "", `${line.slice(0, 1)} ${line.slice(1)}\n`));
      }
      const block = element("pre", "", code);
      block.tabIndex = 0;
      return element("div", "code diff", block);
    }

    byTool(names) {
      const parts = [element("code", "", "fullgraph fix"), " may do this for you: "];
      names.slice(0, 3).forEach((name, number) => {
        const link = element("a", "", name);
        link.href = `${this.root}fixes/${name}.html`;
        parts.push(number ? ", " : "", link);
      });
      return parts;
    }

    /* The box of the home page is one line until more is pasted. */
    grow() {
      this.box.classList.toggle("long", this.box.value.includes("\n"));
      if (this.panel) return;
      this.box.style.height = "";
      if (this.box.scrollHeight > this.box.clientHeight + 4) this.box.style.height = `${this.box.scrollHeight + 2}px`;
    }

    // Keys

    links() {
      const found = [...this.answer.querySelectorAll("h2 a"), ...this.results.querySelectorAll("li > a:first-child")];
      return found.filter((link) => link.offsetParent);
    }

    move(step) {
      const targets = this.links();
      const at = targets.indexOf(document.activeElement);
      if (at + step < 0) this.box.focus();
      else if (targets[at + step]) targets[at + step].focus();
      else return false;
      return true;
    }

    /* Open the first result, also if the index is still being loaded. */
    async openFirst() {
      if (!this.box.value.trim()) return;
      await this.pending;
      const [first] = this.links();
      if (first) first.click();
    }

    clear() {
      this.box.value = "";
      this.changed();
      this.box.focus();
    }

    changed() {
      this.pending = this.update();
    }

    isAtEnd() {
      return !this.box.value.slice(this.box.selectionEnd).includes("\n");
    }

    press(event) {
      if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return false;
      const { target, key } = event;
      const inBox = target === this.box;
      const inList = Boolean(target.closest && target.closest("#results, #answer"));
      if (key === "/" && !target.closest("input, textarea, select, [contenteditable]")) {
        this.box.focus();
        this.box.select();
      } else if (key === "Escape" && (inBox || inList)) {
        if (inBox && !this.box.value) return false;
        this.clear();
      } else if (key === "ArrowDown" && ((inBox && this.isAtEnd()) || inList)) return this.move(1);
      else if (key === "ArrowUp" && inList) return this.move(-1);
      else if (key === "Enter" && inBox && !event.shiftKey) this.openFirst();
      else return false;
      return true;
    }

    listen() {
      const { form, box } = this;
      document.addEventListener("keydown", (event) => this.press(event) && event.preventDefault());
      box.addEventListener("focus", () => this.load().catch(() => {}), { once: true });
      box.addEventListener("input", () => this.changed());
      this.clearButton.addEventListener("click", () => this.clear());
      form.addEventListener("submit", (event) => event.preventDefault());
      if (!this.panel) return;
      box.addEventListener("focus", () => this.toggle(Boolean(box.value.trim())));
      const leave = (target) => form.contains(target) || this.toggle(false);
      document.addEventListener("focusin", (event) => leave(event.target));
      document.addEventListener("pointerdown", (event) => leave(event.target));
    }
  }

  function capital(text) {
    return text.slice(0, 1).toUpperCase() + text.slice(1);
  }

  scope.FullgraphBox = { SearchBox };
  const form = document.querySelector("form.find:not(.home)");
  if (form) new SearchBox(form);
})(window);
