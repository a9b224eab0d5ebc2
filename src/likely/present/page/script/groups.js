// Scores by subgroup: the table of any attribute, in the place of the one that the page was made with. Knows figures of
// the page and elements; no model.

import { byId, cut, make } from "./elements.js";
import { figuresOf } from "./figures.js";

// `groups` are [attribute, lines of cells].
function show(table, [name, lines]) {
  table.tHead.rows[0].cells[0].textContent = cut(name, 40);
  table.tBodies[0].replaceChildren(...lines.map(([level, ...cells]) =>
    make("tr", {}, make("th", { scope: "row" }, level), ...cells.map((words) => make("td", { class: "num" }, words)))));
}

const place = typeof document === "undefined" ? null : byId("groups");
if (place) {
  const { groups } = figuresOf;
  const table = document.querySelector('[data-table="groups"]');
  const pick = make("select", { id: "g-of", onchange: () => show(table, groups[Number(pick.value)]) });
  groups.forEach(([name], k) => pick.append(make("option", { value: k }, cut(name, 40))));
  pick.value = String(groups.findIndex(([name]) => cut(name, 40) === table.tHead.rows[0].cells[0].textContent));
  place.append(make("label", { for: "g-of" }, "Groups by "), pick);
}
