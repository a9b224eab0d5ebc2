// The list of sections: which one is read, links that leave the row in the address alone, and finding an attribute of
// many by its name. Knows elements only.

import { byId, make } from "./elements.js";

const links = [...document.querySelectorAll('nav a[href^="#"]')];
const parts = links.map((link) => document.getElementById(link.hash.slice(1)));

// The section that the upper third of the window shows.
function mark() {
  const line = innerHeight / 3;
  const last = parts.findLastIndex((part) => part && part.getBoundingClientRect().top <= line);
  const atEnd = innerHeight + scrollY >= document.documentElement.scrollHeight - 2;
  const here = atEnd ? parts.length - 1 : Math.max(0, last);
  links.forEach((link, k) => {
    if (k === here) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  });
}

let waiting = false;
function later() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => {
    waiting = false;
    mark();
  });
}

if (links.length) {
  addEventListener("scroll", later, { passive: true });
  addEventListener("resize", later, { passive: true });
  mark();
}

// The address holds the row of the what-if: going to a place of the page must not wipe it.
for (const link of document.querySelectorAll('a[href^="#"]')) {
  link.addEventListener("click", (event) => {
    const place = document.getElementById(link.hash.slice(1));
    if (!place) return;
    event.preventDefault();
    if (place instanceof HTMLDetailsElement) place.open = true;
    place.scrollIntoView();
    const first = place.matches("details") ? place.querySelector("summary") : place;
    if (first === place && !place.hasAttribute("tabindex")) place.setAttribute("tabindex", "-1");
    first.focus({ preventScroll: true });
  });
}

// Of many attributes only those that tell most are shown; the list of all others is narrowed by what is typed.
const found = byId("find");
if (found) {
  const lines = [...found.querySelectorAll("tbody tr")];
  const narrow = ({ target }) => {
    const wanted = target.value.toLowerCase();
    for (const line of lines) line.hidden = !line.cells[0].textContent.toLowerCase().includes(wanted);
  };
  const label = "part of a name";
  found.querySelector("summary").after(make("input", { type: "search", "aria-label": label, placeholder: label, oninput: narrow }));
}
