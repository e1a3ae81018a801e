"use strict";
/* The search of the home page: filters, the list of all breaks, and an address that can be shared. */
(function () {
  const form = document.querySelector("form.find");
  // Maps old names of categories, which bookmarked URLs may contain, to new ones.
  const renamed = JSON.parse(form.dataset.renamed);
  const start = document.getElementById("start");
  const all = document.getElementById("all");
  const panel = form.querySelector(".filters");
  const reset = form.querySelector(".reset");
  const filters = [...form.querySelectorAll("select, input")];
  const rows = new Map([...all.querySelectorAll("li[data-id]")].map((row) => [row.dataset.id, row]));

  class HomeBox extends FullgraphBox.SearchBox {
    async update() {
      const chosen = settings();
      const filtered = Object.keys(chosen).length > 0;
      const query = this.box.value.trim();
      reset.hidden = !filtered;
      for (const filter of filters) filter.classList.toggle("set", Boolean(chosen[filter.name]));
      document.body.classList.toggle("searching", Boolean(query));
      start.hidden = Boolean(query) || filtered;
      all.hidden = Boolean(query);
      if (filtered) panel.open = true;
      await super.update();
      if (!query) await this.list(chosen, filtered);
    }

    accepts(entry) {
      const chosen = settings();
      if (!Object.keys(chosen).length) return true;
      return entry.kind === "break" && fits(entry, chosen);
    }

    /* Without a query: the list as it is, with what the filters leave. */
    async list(chosen, filtered) {
      if (filtered) all.open = true;
      if (!filtered && !this.search) return;
      const { entries } = await this.load();
      let left = 0;
      for (const entry of entries) {
        const row = rows.get(entry.id);
        if (!row) continue;
        row.hidden = !fits(entry, chosen);
        if (!row.hidden) left++;
      }
      for (const group of all.querySelectorAll("section")) {
        const kept = group.querySelectorAll("li[data-id]:not([hidden])").length;
        group.hidden = !kept;
        group.querySelector(".number").textContent = kept;
      }
      this.say(filtered ? `${left} of ${rows.size} breaks` : "");
    }

    clear() {
      super.clear();
      remember(true);
    }
  }

  const search = new HomeBox(form);

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

  // The URL

  function shareable(query) {
    return search.search ? search.search.shareable(query) : query.trim().slice(0, 200);
  }

  function address() {
    const parameters = new URLSearchParams();
    const query = shareable(search.box.value);
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
    const step = { method: push ? "pushState" : "replaceState", query: search.box.value, target: address() };
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

  async function restore(state) {
    const parameters = new URLSearchParams(location.search);
    const query = parameters.get("q") || "";
    // The URL has only the start of a long message; the history state has all of it.
    const kept = state && state.query;
    if (kept && kept !== query) await search.load();
    search.box.value = kept && shareable(kept) === query ? kept : query;
    for (const filter of filters) {
      const given = parameters.get(filter.name) || "";
      const value = filter.name === "category" ? renamed[given] || given : given;
      if (filter.type === "checkbox") filter.checked = value === "1";
      else filter.value = [...filter.options].some((option) => option.value === value) ? value : "";
    }
    search.changed();
  }

  document.addEventListener("click", settle, { capture: true }); // before the browser follows a link
  search.box.addEventListener("input", async () => {
    await search.pending;
    const isFirst = !new URLSearchParams(location.search).has("q");
    remember(isFirst);
  });
  for (const filter of filters) {
    filter.addEventListener("change", () => {
      search.changed();
      remember(true);
    });
  }
  reset.addEventListener("click", () => {
    for (const filter of filters) {
      if (filter.type === "checkbox") filter.checked = false;
      else filter.value = "";
    }
    search.changed();
    remember(true);
    search.box.focus();
  });
  search.more.querySelector("button").addEventListener("click", () => {
    const before = search.shown;
    search.showMore();
    const next = search.results.children[before];
    if (next) next.querySelector("a").focus();
  });
  addEventListener("popstate", (event) => restore(event.state));
  restore(history.state);
  // Not all browsers open it for a link into it.
  if (location.hash === "#breaks") all.open = true;
})();
