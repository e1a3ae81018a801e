"use strict";
// On the 404 page: a URL that ends in the id of a break, however it is written, leads to its page.
(function () {
  const found = /(?:^|\/)gb[-_ ]?0*(\d{1,6})(?:\.html?|\.md)?\/*$/i.exec(decodeURI(location.pathname));
  const home = document.currentScript.dataset.home;
  if (!found) return;
  const page = home + "gb/gb" + found[1].padStart(4, "0") + ".html";
  // The page of an id that does not exist ends here, too.
  if (location.pathname !== page) location.replace(page);
})();
