// The page of a joint table: what is clicked becomes a query, and its answer is worked out exactly.

import { byId, make } from "./elements.js";
import { decimal, quotient } from "./fractions.js";

const data = JSON.parse(byId("joint").textContent);
const { variables, levels, exact, total: whole } = data;
const last = variables.length - 1;
const cells = data.cells.map(([at, weight]) => ({ at, weight: exact ? BigInt(weight) : weight }));
const total = exact ? BigInt(whole) : whole;
const none = exact ? 0n : 0;
// For each variable the places of its values that are chosen.
const state = { asked: variables.map(() => new Set()), given: variables.map(() => new Set()) };
const choice = (name) => document.querySelector(`input[name="${name}"]:checked`).value;

const within = (at, event) => event.every((values, k) => !values.size || values.has(at[k]));
const touches = (at, event) => event.some((values, k) => values.size && values.has(at[k]));
const isEmpty = (event) => event.every((values) => !values.size);

function weigh(test) {
  let sum = none;
  for (const { at, weight } of cells) if (test(at)) sum += weight;
  return sum;
}

// Names as a query takes them: in quotes where a bare one could be misread.
const UNSAFE = /[,|=≠!"'()]|(?<![\p{L}\p{N}_])(?:or|and)(?![\p{L}\p{N}_])|^\s|\s$|^$/iu;
const quote = (text) => (UNSAFE.test(text) ? `'${text.replaceAll("'", "''")}'` : text);
const words = (event, between = ", ") =>
  event
    .map((values, k) =>
      values.size ? `${quote(variables[k])}=${[...values].sort((a, b) => a - b).map((v) => quote(levels[k][v])).join(" or ")}` : "",
    )
    .filter(Boolean)
    .join(between);

function answer() {
  const { asked, given } = state;
  const any = choice("join") === "or";
  const inAsked = any ? (at) => touches(at, asked) : (at) => within(at, asked);
  const known = weigh((at) => within(at, given));
  const left = words(asked, any ? " or " : ", ");
  const right = words(given);
  if (isEmpty(asked)) {
    return { working: right ? `P(${right}) = ${ends(known, total)}` : "Nothing is chosen yet.", query: right ? `P(${right})` : "" };
  }
  const query = right ? `P(${left} | ${right})` : `P(${left})`;
  if (!known) return { working: `P(${right}) is 0, so nothing can be said given that it happened.`, query };
  const both = weigh((at) => within(at, given) && inAsked(at));
  if (!right) return { working: `${query} = ${ends(both, total)}`, query };
  // With one variable on both sides there is no quotient that says it simply.
  if (asked.some((values, k) => values.size && given[k].size)) return { working: `${query} = ${ends(both, known)}`, query };
  const top = any ? `P((${left}) and ${right})` : `P(${left}, ${right})`;
  const parts = exact ? ` = (${quotient(both, total, false)}) / (${quotient(known, total, false)})` : "";
  return { working: `${query} = ${top} / P(${right})${parts} = ${ends(both, known)}`, query };
}

const ends = (top, bottom) => {
  const near = decimal(top, bottom);
  const fraction = quotient(top, bottom);
  return fraction === near ? near : exact ? `${fraction} ≈ ${near}` : near;
};

function shown(test) {
  const how = choice("show");
  const bottom = how === "given" ? weigh((at) => within(at, state.given)) : total;
  const top = weigh(how === "given" ? (at) => test(at) && within(at, state.given) : test);
  if (!bottom) return "–";
  return how === "fraction" ? quotient(top, bottom, false) : decimal(top, bottom);
}

// A click on an event: it becomes what is asked or given; the same click again takes it back.
function choose(event) {
  const target = state[choice("mode")];
  const same = target.every((values, k) => values.size === event[k].size && [...event[k]].every((v) => values.has(v)));
  target.forEach((values, k) => {
    values.clear();
    if (!same) for (const v of event[k]) values.add(v);
  });
  refresh();
}

const places = [];
function place(tag, event, attributes = {}, label = null) {
  const at = event.map((values) => new Set(values));
  const button = make("button", { type: "button", onclick: () => choose(at), "aria-label": `P(${words(at)})` }, label ?? "");
  const box = make(tag, attributes, button);
  places.push({ box, button, at, label });
  return box;
}

// Every combination of the values of the first variables, in order.
function lines(upTo) {
  let out = [[]];
  for (let k = 0; k < upTo; k++) out = out.flatMap((line) => levels[k].map((_, v) => [...line, v]));
  return out;
}

function build() {
  const table = byId("table");
  const down = data.across ? last : variables.length;
  const wide = data.across ? levels[last].map((_, v) => v) : [];
  const event = (line, value) => variables.map((_, k) => (k < line.length ? [line[k]] : k === last && value !== null ? [value] : []));
  const head = make("tr");
  for (let k = 0; k < down; k++) head.append(make("th", { scope: "col" }, variables[k]));
  for (const v of wide) head.append(place("th", event([], v), { scope: "col", class: "num" }, `${variables[last]}=${levels[last][v]}`));
  head.append(make("th", { scope: "col", class: "num margin" }, wide.length ? "sum" : "P"));
  const body = make("tbody");
  for (const line of lines(down)) {
    const row = make("tr", { "data-line": line.join(" ") });
    line.forEach((v, k) => row.append(place("th", variables.map((_, j) => (j <= k ? [line[j]] : [])), { scope: "row" }, levels[k][v])));
    for (const v of wide) row.append(place("td", event(line, v), { class: "num" }));
    row.append(place("td", event(line, null), { class: "num margin" }));
    body.append(row);
  }
  const foot = make("tr", { class: "margins" }, make("th", { scope: "row", colspan: down }, "sum"));
  for (const v of wide) foot.append(place("td", event([], v), { class: "num" }));
  foot.append(make("td", { class: "num margin", id: "all" }));
  body.append(foot);
  table.append(make("thead", {}, head), body);

  for (const [k, name] of variables.entries()) {
    const row = make("div", { class: "chip-row" }, make("strong", {}, name));
    levels[k].forEach((level, v) =>
      row.append(make("button", { type: "button", class: "chip", "data-variable": k, "data-level": v, onclick: () => turn(k, v) }, level || "''")),
    );
    byId("chips").append(row);
  }
  for (const input of document.querySelectorAll(".controls input")) input.addEventListener("change", refresh);
  byId("clear").addEventListener("click", () => {
    for (const side of ["asked", "given"]) for (const values of state[side]) values.clear();
    refresh();
  });
}

// A value by itself goes in or out of what is asked or given; several values of one variable mean any of them.
function turn(k, v) {
  const mode = choice("mode");
  const other = mode === "asked" ? "given" : "asked";
  if (!state[mode][k].delete(v)) state[mode][k].add(v);
  state[other][k].delete(v);
  refresh();
}

function refresh() {
  const found = answer();
  byId("working").textContent = found.working;
  byId("query").textContent = found.query;
  const any = choice("join") === "or";
  for (const { box, button, at, label } of places) {
    if (label === null) button.textContent = shown((cell) => within(cell, at));
    // An event is marked where all that it holds is in what is asked, or given.
    const inside = (event) => !isEmpty(event) && event.every((values, k) => !values.size || (at[k].size && [...at[k]].every((v) => values.has(v))));
    const touched = any && state.asked.some((values, k) => values.size && at[k].size && [...at[k]].every((v) => values.has(v)));
    box.classList.toggle("is-asked", any ? touched : inside(state.asked));
    box.classList.toggle("is-given", inside(state.given));
    button.setAttribute("aria-pressed", String(box.classList.contains("is-asked") || box.classList.contains("is-given")));
  }
  byId("all").textContent = shown(() => true);
  for (const chip of document.querySelectorAll(".chip")) {
    const [k, v] = [Number(chip.dataset.variable), Number(chip.dataset.level)];
    const now = state.given[k].has(v) ? "given" : state.asked[k].has(v) ? "asked" : "";
    chip.dataset.state = now;
    chip.setAttribute("aria-pressed", String(now !== ""));
  }
}

build();
refresh();
