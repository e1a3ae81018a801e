"use strict";
// The search of the home page. Without this script, the page is a plain list.
(function () {
  const PAGE = 40;
  const REASONS = {
    id: "This is the id you gave.",
    link: "Your message links to it.",
    type: "The type in your text.",
    explanation: "The explanation in your text.",
    hint: "A hint in your text.",
    context: "The context in your text.",
  };
  const form = document.querySelector("form.search");
  // Maps old names of categories, which bookmarked URLs may contain, to new ones.
  const renamed = JSON.parse(form.dataset.renamed);
  const box = form.querySelector("textarea");
  const count = document.getElementById("count");
  const results = document.getElementById("results");
  const all = document.getElementById("all");
  const more = document.querySelector(".more");
  const clear = form.querySelector(".clear");
  const reset = form.querySelector(".reset");
  const filters = [...form.querySelectorAll("select, input")];
  const rows = new Map([...all.querySelectorAll("li[data-id]")].map((row) => [row.dataset.id, row]));
  const search = new FullgraphSearch.Search(window.FULLGRAPH_INDEX);
  const entries = new Map(search.entries.map((entry) => [entry.id, entry]));
  let found = [];
  let shown = 0;

  function settings() {
    const chosen = {};
    for (const filter of filters) {
      const value = filter.type === "checkbox" ? (filter.checked ? "1" : "") : filter.value;
      if (value) chosen[filter.name] = value;
    }
    return chosen;
  }

  function fits(entry, chosen) {
    return (
      (!chosen.category || entry.category === chosen.category) &&
      (!chosen.status || entry.status === chosen.status) &&
      (!chosen.release || entry.releases.includes(chosen.release)) &&
      (!chosen.introduced || entry.introduced === chosen.introduced) &&
      (!chosen.fixable || entry.fixable === chosen.fixable) &&
      (!chosen.example || entry.example)
    );
  }

  function update() {
    const query = box.value.trim();
    const chosen = settings();
    const filtered = Object.keys(chosen).length > 0;
    clear.hidden = !box.value;
    reset.hidden = !filtered;
    for (const filter of filters) filter.classList.toggle("set", Boolean(chosen[filter.name]));
    grow();
    if (query) rank(query, chosen);
    else list(chosen, filtered);
    all.hidden = Boolean(query);
    results.hidden = !query;
  }

  /* Without a query: the list as it is, with what the filters leave. */
  function list(chosen, filtered) {
    found = [];
    more.hidden = true;
    results.replaceChildren();
    let left = 0;
    for (const [id, row] of rows) {
      const entry = entries.get(id);
      row.hidden = Boolean(entry) && !fits(entry, chosen);
      if (!row.hidden) left++;
    }
    for (const group of all.querySelectorAll("section")) {
      const kept = group.querySelectorAll("li[data-id]:not([hidden])").length;
      group.hidden = !kept;
      group.querySelector(".number").textContent = kept;
    }
    say(filtered ? `${left} of ${rows.size} breaks` : `${rows.size} breaks`);
  }

  function rank(query, chosen) {
    const anywhere = search.find(query);
    found = anywhere.filter(({ entry }) => fits(entry, chosen) && rows.has(entry.id));
    shown = 0;
    results.replaceChildren();
    showMore();
    const sure = found.length && found[0].by !== "words" ? `, the first is ${found[0].entry.id}` : "";
    if (found.length) say(`${found.length} ${found.length === 1 ? "result" : "results"}${sure}`);
    else if (anywhere.length) say(`Nothing with these filters, ${anywhere.length} without them.`);
    else say("Nothing found. Try fewer words, or paste the line above “Explanation:”.");
  }

  function showMore() {
    const words = new Set(FullgraphSearch.wordsOf(box.value.slice(0, 400)));
    for (const result of found.slice(shown, shown + PAGE)) results.append(rowOf(result, words));
    shown = Math.min(found.length, shown + PAGE);
    more.hidden = shown >= found.length;
  }

  function rowOf({ entry, by }, words) {
    const row = rows.get(entry.id).cloneNode(true);
    row.hidden = false;
    row.classList.toggle("sure", by !== "words");
    const why = document.createElement("p");
    why.className = "why";
    if (REASONS[by]) {
      const reason = document.createElement("span");
      reason.className = "found";
      reason.textContent = `✓ ${REASONS[by]} `;
      why.append(reason);
    }
    mark(why, (entry.how || entry.explanation).replaceAll("`", ""), words);
    row.append(why);
    return row;
  }

  /* The text with the words of the query marked. */
  function mark(parent, text, words) {
    for (const part of text.split(/([\p{L}\p{N}_]+)/u)) {
      const isHit = part.length > 2 && FullgraphSearch.wordsOf(part).some((word) => words.has(word));
      if (!isHit) {
        parent.append(part);
        continue;
      }
      const hit = document.createElement("mark");
      hit.textContent = part;
      parent.append(hit);
    }
  }

  function say(text) {
    if (count.textContent !== text) count.textContent = text;
  }

  /* The box is one line until more is pasted. */
  function grow() {
    box.classList.toggle("long", box.value.includes("\n"));
    box.style.height = "";
    if (box.scrollHeight > box.clientHeight + 4) box.style.height = `${box.scrollHeight + 2}px`;
  }

  // The URL

  function address() {
    const parameters = new URLSearchParams();
    const query = search.shareable(box.value);
    if (query) parameters.set("q", query);
    for (const [name, value] of Object.entries(settings())) parameters.set(name, value);
    const text = parameters.toString();
    return location.pathname + (text ? `?${text}` : "");
  }

  let pending = null;

  /* Browsers limit how often an address may change, and people type fast. */
  function remember(push) {
    if (push) settle();
    else clearTimeout(pending && pending.timer);
    const step = { method: push ? "pushState" : "replaceState", query: box.value, target: address() };
    pending = step;
    if (push) settle();
    else step.timer = setTimeout(settle, 250);
  }

  function settle() {
    if (!pending) return;
    const { method, query, target, timer } = pending;
    clearTimeout(timer);
    pending = null;
    if (target === location.pathname + location.search) return;
    try {
      history[method]({ query }, "", target);
    } catch {
      // A browser may forbid it for local files; the search works anyway.
    }
  }

  function restore(state) {
    const parameters = new URLSearchParams(location.search);
    const query = parameters.get("q") || "";
    // The URL has only the start of a long message; the history state has all of it.
    const kept = state && state.query;
    box.value = kept && search.shareable(kept) === query ? kept : query;
    for (const filter of filters) {
      const given = parameters.get(filter.name) || "";
      const value = filter.name === "category" ? renamed[given] || given : given;
      if (filter.type === "checkbox") filter.checked = value === "1";
      else filter.value = [...filter.options].some((option) => option.value === value) ? value : "";
    }
    update();
  }

  // Keys

  function links() {
    return [...(results.hidden ? all : results).querySelectorAll("li:not([hidden]) > a:first-child")].filter(
      (link) => link.offsetParent
    );
  }

  function move(step) {
    const targets = links();
    const at = targets.indexOf(document.activeElement);
    if (at + step < 0) box.focus();
    else if (targets[at + step]) targets[at + step].focus();
    else return false;
    return true;
  }

  function clearSearch() {
    box.value = "";
    update();
    remember(true);
    box.focus();
  }

  function isTyping(target) {
    return target.closest("input, textarea, select, [contenteditable]");
  }

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const inBox = event.target === box;
    const inList = event.target.closest && event.target.closest("#results, #all");
    if (event.key === "/" && !isTyping(event.target)) {
      box.focus();
      box.select();
    } else if (event.key === "Escape" && (inBox || inList)) {
      if (inBox && !box.value) return;
      clearSearch();
    } else if (event.key === "ArrowDown" && ((inBox && isAtEnd()) || inList)) {
      if (!move(1)) return;
    } else if (event.key === "ArrowUp" && inList) {
      if (!move(-1)) return;
    } else if (event.key === "Enter" && inBox && !event.shiftKey) {
      const [first] = links();
      if (first && box.value.trim()) first.click();
    } else {
      return;
    }
    event.preventDefault();
  });

  function isAtEnd() {
    return !box.value.slice(box.selectionEnd).includes("\n");
  }

  document.addEventListener("click", settle, { capture: true }); // before the browser follows a link
  box.addEventListener("input", () => {
    const isFirst = !new URLSearchParams(location.search).has("q");
    update();
    remember(isFirst);
  });
  for (const filter of filters) {
    filter.addEventListener("change", () => {
      update();
      remember(true);
    });
  }
  clear.addEventListener("click", clearSearch);
  reset.addEventListener("click", () => {
    for (const filter of filters) {
      if (filter.type === "checkbox") filter.checked = false;
      else filter.value = "";
    }
    update();
    remember(true);
    box.focus();
  });
  more.querySelector("button").addEventListener("click", () => {
    const before = shown;
    showMore();
    const next = results.children[before];
    if (next) next.querySelector("a").focus();
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  addEventListener("popstate", (event) => restore(event.state));
  form.hidden = false;
  restore(history.state);
  // Prepare the first search while the browser is idle.
  (window.requestIdleCallback || setTimeout)(() => search.find("ready"));
})();
