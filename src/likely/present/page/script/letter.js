// One row as a sheet to print and as a card to send: question, answer, reasons, and how good the model is. Knows elements,
// figures of the page and what the what-if shows; no scores.

import { bits, byId, cut, draw, make, percent } from "./elements.js";
import { figuresOf } from "./figures.js";
import { save } from "./saving.js";

const MOST_VALUES = 40;
const MOST_GROUPS = 7;
const MOST_CHANCES = 4;
const CARD_LINES = 5;
const CARD = { wide: 640, left: 28, bar: 330, mid: 440 };

const wordsAt = (selector) => document.querySelector(selector)?.textContent.replace(/\s+/g, " ").trim() ?? "";
const copyOf = (element) => {
  const out = element.cloneNode(true);
  for (const one of [out, ...out.querySelectorAll("[id]")]) one.removeAttribute("id");
  for (const button of out.querySelectorAll("button")) button.replaceWith(button.textContent);
  return out;
};

// The groups that a row is in, of attributes by whose levels scores are known: lines of cells, the level first.
export function groupsWith(values, groups) {
  return groups.flatMap(([name, lines]) => {
    const own = lines.find(([level]) => level === values.get(name));
    return own ? [[`${name} = ${own[0]}`, ...own.slice(1)]] : [];
  });
}

// The sheet is made for the printer, and gone when that is done.
export function printLetter(state, target, remarks, standsIn) {
  byId("w-letter")?.remove();
  const known = [...state.values].filter(([, value]) => value !== null);
  const shown = known.slice(0, MOST_VALUES).map(([name, value]) => make("span", {}, make("b", {}, cut(name, 40)), ` ${cut(value, 60)}`));
  const rest = [known.length > shown.length ? `${known.length - shown.length} more values are not listed` : "", state.values.size > known.length ? `${state.values.size - known.length} are unknown` : ""].filter(Boolean);
  const groups = groupsWith(state.values, figuresOf.groups).slice(0, MOST_GROUPS);
  const bars = copyOf(byId("w-bars"));
  bars.replaceChildren(...[...bars.rows].sort((one, other) => (other.dataset.p ?? 0) - (one.dataset.p ?? 0)).slice(0, MOST_CHANCES));
  const heads = [...document.querySelectorAll('[data-table="groups"] thead th')].slice(1).map((head) => make("th", { class: "num" }, head.textContent));
  const lines = groups.map(([name, ...cells]) => make("tr", {}, make("th", { scope: "row" }, name), ...cells.map((cell) => make("td", { class: "num" }, cell))));
  const scores = standsIn ? "Not known of this sheet: its answer is that of naive Bayes, which stands in for the model of the page." : `${wordsAt("h1")}. ${wordsAt(".ladder-box .held-out")}`;
  const judged = byId("answer") ? [make("h2", {}, "How good the model is"), make("p", {}, scores)] : [];
  if (lines.length && !standsIn) judged.push(make("p", {}, "Of the groups that this row is in:"), make("table", {}, make("thead", {}, make("tr", {}, make("td"), ...heads)), make("tbody", {}, ...lines)));
  byId("main").append(make("article", { id: "w-letter", class: "w", "aria-label": "Letter" },
    make("p", { class: "eyebrow" }, wordsAt(".eyebrow")), make("p", { class: "note" }, wordsAt("#w-note")),
    make("h2", {}, `Which ${cut(target, 40)} does this row have?`),
    make("p", { class: "w-given" }, ...shown), make("p", { class: "note" }, rest.length ? `${rest.join("; ")}.` : ""),
    make("h2", {}, `Answer: ${wordsAt("#w-action")}`),
    make("table", { class: "w-table w-chances" }, bars), make("p", { class: "w-wrong" }, remarks.join(" ")), make("p", {}, wordsAt("#w-sure")),
    make("h2", {}, "Why"), make("table", { class: "w-table" }, copyOf(byId("w-ledger"))), make("p", { class: "note" }, wordsAt("#w-ledger-of")),
    ...judged, ...[...document.querySelectorAll("#reproduce dl")].map(copyOf),
  ));
  document.documentElement.dataset.letter = "";
  print();
}

if (typeof document !== "undefined") addEventListener("afterprint", () => delete document.documentElement.dataset.letter);

// The card: the answer, the strongest reasons as bars, and where the page is that tells more.
function drawCard({ target, name, chance, against, rows, link, notes, colours }) {
  const { wide, left: at, bar, mid } = CARD;
  const lines = rows.slice(0, CARD_LINES);
  const rest = rows.slice(CARD_LINES).reduce((sum, { ratio }) => sum + ratio, 0);
  const left = rows.length > CARD_LINES ? `${rows.length - CARD_LINES} others together: ${bits(rest)}` : "";
  const high = 168 + 20 * notes.length + 26 * (lines.length + (left ? 1 : 0));
  const svg = draw("svg", { viewBox: `0 0 ${wide} ${high}`, width: wide, height: high, class: "chart w-card", role: "img", "aria-label": `${target} of one row: ${name}, ${percent(chance)}` });
  const text = (x, y, told, kind = "", anchor = "start") => draw("text", { x, y, class: kind, "text-anchor": anchor }, told);
  svg.append(text(at, 34, `${cut(target, 50)} of this row`, "name"), text(at, 78, cut(name, 26), "w-card-name"), text(wide - at, 78, percent(chance), "w-card-name", "end"));
  svg.append(text(at, 112, `Why: bits for ${cut(name, 22)} (right) against ${cut(against, 22)} (left)`, "name"));
  const widest = Math.max(1, ...lines.map(({ ratio }) => (Number.isFinite(ratio) ? Math.abs(ratio) : 0)));
  lines.forEach(({ told, ratio }, k) => {
    const y = 136 + 26 * k;
    const long = (bar / 2 - 60) * Math.min(1, Math.abs(ratio) / widest);
    svg.append(text(at, y, cut(told, 40)), draw("rect", { x: (ratio < 0 ? mid - long : mid).toFixed(1), y: y - 11, width: Math.max(1, long).toFixed(1), height: 13, class: `${colours[ratio < 0 ? 1 : 0]} fill` }), text(wide - at, y, bits(ratio), "tick", "end"));
  });
  if (left) svg.append(text(at, 136 + 26 * lines.length, left, "tick"));
  notes.forEach((note, k) => svg.append(text(at, high - 14 - 20 * (notes.length - k), cut(note, 92), "tick")));
  const open = draw("a", { href: link }, text(at, high - 14, cut(`Open it: ${link}`, 92), "tick"));
  svg.append(open);
  return svg;
}

// Saved as it would be seen on the page, which it is on for that moment alone.
export async function saveCard(told, kind) {
  const card = drawCard(told);
  const box = make("div", { class: "w-hidden", "aria-hidden": "true" }, card);
  document.body.append(box);
  await save(card, kind);
  box.remove();
}
