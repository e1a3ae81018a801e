"use strict";
// A button that copies, on every block of code.
(function () {
  function buttonFor(pre, label) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    button.setAttribute("aria-label", "Copy the code: " + label);
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(pre.textContent);
        button.textContent = "Copied";
      } catch {
        button.textContent = "Not allowed";
      }
      setTimeout(() => (button.textContent = "Copy"), 1500);
    });
    return button;
  }

  function firstLine(pre) {
    return pre.textContent.trim().split("\n")[0].slice(0, 40);
  }

  // A button inside of a scrolling block would scroll away, so it is placed over a frame around it.
  function framed(pre) {
    const frame = document.createElement("div");
    frame.className = "copyable";
    pre.replaceWith(frame);
    frame.append(pre, buttonFor(pre, firstLine(pre)));
  }

  document.addEventListener("DOMContentLoaded", () => {
    if (!navigator.clipboard) return;
    document.querySelectorAll("main pre").forEach((pre) => {
      const caption = pre.closest("figure.code")?.querySelector("figcaption");
      if (caption) caption.append(buttonFor(pre, caption.textContent));
      else framed(pre);
    });
  });
})();
