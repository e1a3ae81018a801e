"use strict";
// The switch "Your torch": pages and lists say whether that release has a break.
// An element with data-marks has one letter per release, oldest first: l, r or a for live, retired
// or absent. Without this script, pages describe all releases.
(function () {
  const KEY = "torch";

  function remembered() {
    try {
      return localStorage.getItem(KEY) || "";
    } catch {
      return ""; // without storage, all releases
    }
  }

  function remember(release) {
    try {
      if (release) localStorage.setItem(KEY, release);
      else localStorage.removeItem(KEY);
    } catch {
      // The choice applies until the page is left.
    }
  }

  function short(release) {
    return release.replace(/\.0$/, "");
  }

  // Returns whether a release has a break: "live", "gone" or "not yet".
  function stateOf(marks, index) {
    if (marks[index] === "l") return "live";
    const began = [...marks].findIndex((mark) => mark !== "a");
    return began < 0 || index < began ? "not yet" : "gone";
  }

  function sentence(marks, releases, index) {
    const name = `torch ${short(releases[index])}`;
    const state = stateOf(marks, index);
    if (state === "live") return `Live in ${name}`;
    if (state === "gone") {
      const last = marks.lastIndexOf("l", index);
      const when = last < 0 ? "" : `; ${short(releases[last])} was the last release with it`;
      return `Gone in ${name}${when}`;
    }
    const first = marks.indexOf("l", index);
    return `Not in ${name} yet` + (first < 0 ? "" : `; it is new in ${short(releases[first])}`);
  }

  function badge(state) {
    const shown = document.createElement("span");
    shown.className = "badge yours " + state.replace(" ", "-");
    shown.textContent = state;
    return shown;
  }

  // A row shows the badge for this release instead of the one for the site's release.
  function showInRow(row, index) {
    row.querySelector(".yours")?.remove();
    const meta = row.querySelector(".meta");
    const usual = meta?.querySelector(".badge:not(.yours)");
    if (usual) usual.hidden = index >= 0;
    const state = index < 0 ? "live" : stateOf(row.dataset.marks, index);
    row.classList.toggle("elsewhere", state !== "live");
    if (state !== "live") meta?.prepend(badge(state));
  }

  function showOnPage(article, releases, index) {
    const shown = article.querySelector(".yours");
    const usual = article.querySelector(".eyebrow .badge:not(.yours)");
    if (!shown || !usual) return;
    usual.hidden = index >= 0;
    shown.hidden = index < 0;
    if (index < 0) return;
    shown.className = "badge yours " + stateOf(article.dataset.marks, index).replace(" ", "-");
    shown.textContent = sentence(article.dataset.marks, releases, index);
  }

  function apply(select) {
    // The options are "all" and then the releases, newest first.
    const releases = [...select.options].slice(1).map((option) => option.value).reverse();
    const index = releases.indexOf(select.value);
    document.querySelectorAll("[data-marks]").forEach((each) => {
      if (each.matches("li, .card")) showInRow(each, index);
      else showOnPage(each, releases, index);
    });
  }

  function choose(select, release) {
    select.value = release;
    if (select.selectedIndex < 0) select.value = ""; // a release that this site does not know
    apply(select);
  }

  document.addEventListener("DOMContentLoaded", () => {
    const label = document.querySelector("label.torch");
    if (!label) return;
    const select = label.querySelector("select");
    label.hidden = false;
    select.addEventListener("change", () => {
      remember(select.value);
      apply(select);
    });
    choose(select, remembered());
    document.addEventListener("fullgraph-results", () => apply(select));
    addEventListener("storage", (event) => {
      if (event.key === KEY) choose(select, event.newValue || "");
    });
    // The browser restores the page, but not what was chosen on another one since.
    addEventListener("pageshow", (event) => event.persisted && choose(select, remembered()));
  });
})();
