"use strict";
// Loaded before the page is drawn, so that a stored theme applies at once.
(function () {
  const root = document.documentElement;
  // Styles show what needs scripts only where there are any.
  root.classList.add("js");

  function remembered() {
    try {
      return localStorage.getItem("theme");
    } catch {
      return null; // without storage, the system setting applies
    }
  }

  function remember(theme) {
    try {
      localStorage.setItem("theme", theme);
    } catch {
      // The choice applies until the page is left.
    }
  }

  const theme = remembered();
  if (theme === "light" || theme === "dark") root.dataset.theme = theme;

  function shown() {
    if (root.dataset.theme) return root.dataset.theme;
    return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  }

  function addToggle(button) {
    button.hidden = false;
    button.addEventListener("click", () => {
      root.dataset.theme = shown() === "dark" ? "light" : "dark";
      remember(root.dataset.theme);
    });
  }

  function addAnchor(heading) {
    const link = document.createElement("a");
    link.className = "anchor";
    link.href = "#" + (heading.id || heading.parentElement.id);
    link.setAttribute("aria-label", "Link to: " + heading.textContent);
    heading.append(link);
  }

  document.addEventListener("DOMContentLoaded", () => {
    document.querySelectorAll(".body > section[id] > h2").forEach(addAnchor);
    document.querySelectorAll("button.theme").forEach(addToggle);
  });
  addEventListener("storage", (event) => {
    if (event.key === "theme" && event.newValue) root.dataset.theme = event.newValue;
  });
})();
