// How the columns of a table are read, and what is to be predicted.

import { make, byId } from "./elements.js";
import { count } from "./parts.js";

const KINDS = [["nominal", "nominal (categories)"], ["number", "number"], ["date", "date"], ["text", "text (words)"], ["ignore", "leave out"]];
const MANY = 30; // a number with more values must be cut into bins to be a target
const SMALL = 2e6; // cells: a table of no more is read again at every change

// What a person has chosen and not yet had read or learned, by table.
const choices = new Map();

export function choiceOf(table) {
  if (!choices.has(table.id)) {
    choices.set(table.id, { types: { ...table.types }, missing: table.missing, sheet: table.sheet, header_row: table.header_row, target: "", bins: 4, learner: "", settings: "" });
  }
  return choices.get(table.id);
}

export const forget = (id) => choices.delete(id);

// A change that could not be read is taken back; the sentence says why.
export function undoReading(table) {
  Object.assign(choiceOf(table), howRead({ ...table, types: { ...table.types } }));
}

const howRead = ({ types, missing, sheet, header_row }) => ({ types, missing, sheet, header_row });

// What is sent: how to read, what to predict.
export function toPredict(table) {
  const { target, bins } = choiceOf(table);
  return { ...howRead(choiceOf(table)), target, target_bins: needsBins(table) ? bins : null };
}

const isSmall = ({ columns }) => columns.rows * columns.columns.length <= SMALL;

function needsBins(table) {
  const { target, types } = choiceOf(table);
  const column = table.columns.columns.find((c) => c.name === target);
  if (!column || (types[target] && types[target] !== "number")) return false;
  return column.kind === "number" && (column.distinct === null || column.distinct > MANY);
}

export function columnsView(table, { missing, learners }, actions) {
  const choice = choiceOf(table);
  const part = make("div", {});

  const changed = () => {
    if (isSmall(table)) actions.read(howRead(choice));
    else draw();
  };
  const draw = () => part.replaceChildren(
    asking(table, learners, choice, actions, draw), ...stale(table, choice),
    make("section", { "aria-labelledby": "columns-h" },
      make("h2", { id: "columns-h" }, "How the columns are read"), pending(table, choice, actions),
      listing(table, choice, changed), missingCells(choice, missing, changed)));
  draw();
  return part;
}

// Files that name their columns themselves have no header row.
const hasHeader = ({ name }) => !/\.(parquet|feather|arrow|ipc|jsonl?|ndjson|arff|db|sqlite3?|duckdb)(\.|$)/i.test(name);

// Which row has the names of the columns; also where a table could not be read because of what stands above it.
export function headerField(table, actions) {
  const choice = choiceOf(table);
  const row = make("input", { id: "header-row", type: "number", min: "1", placeholder: "1", value: choice.header_row || "", onchange: () => {
    Object.assign(choice, { header_row: Math.round(Number(row.value)) || null, types: {}, target: "" });
    actions.read(howRead(choice));
  } });
  return hasHeader(table) ? [make("div", { class: "field" }, make("label", { for: "header-row" }, "Names of columns in row"), row)] : [];
}

function asking(table, learners, choice, actions, draw) {
  const target = make("select", { id: "target", onchange: () => {
    choice.target = target.value;
    draw();
    byId("target").focus();
  } }, make("option", { value: "", selected: !choice.target }, "choose a column …"),
  ...table.columns.columns.map((c) => make("option", { value: c.name, selected: c.name === choice.target }, c.name)));
  const sheet = make("select", { id: "sheet", onchange: () => {
    Object.assign(choice, { sheet: sheet.value || null, types: {}, target: "" });
    actions.read(howRead(choice));
  } }, ...[null, ...table.columns.sheets].map((name) => make("option", { value: name || "", selected: name === choice.sheet }, name || "the first with rows")));
  const settings = make("input", { id: "settings", type: "text", spellcheck: "false", placeholder: "pseudo_count=1", value: choice.settings,
    onchange: () => (choice.settings = settings.value.trim()) });
  const learner = make("select", { id: "learner", onchange: () => {
    choice.learner = learner.value;
    draw();
    byId("learner").focus();
  } },
    ...["", ...learners].map((name) => make("option", { value: name, selected: name === choice.learner }, name || "automatic (best found)")));
  const bins = make("input", { id: "bins", type: "number", min: "2", max: "100", value: choice.bins,
    onchange: () => (choice.bins = Math.max(2, Math.round(Number(bins.value)) || 4)) });
  const form = make("form", { class: "line", onsubmit: (event) => {
    event.preventDefault();
    actions.learn({ ...toPredict(table), learner: learnerOf(choice) });
  } },
  ...(sheet.options.length > 2 ? [make("div", { class: "field" }, make("label", { for: "sheet" }, "Sheet"), sheet)] : []),
  ...headerField(table, actions),
  make("div", { class: "field" }, make("label", { for: "target" }, "Predict"), target),
  ...(needsBins(table) ? [make("div", { class: "field" }, make("label", { for: "bins" }, "a number: cut into how many bins?"), bins)] : []),
  make("div", { class: "field" }, make("label", { for: "learner" }, "Learner"), learner),
  ...(hasSettings(choice) ? [make("div", { class: "field" }, make("label", { for: "settings" }, "with settings"), settings)] : []),
  make("button", { class: "first", type: "submit", id: "learn", disabled: actions.busy || !choice.target }, "Learn"));
  return make("div", { class: "ask" }, form);
}

// A learner as one writes it; names with a comma have their settings already.
const hasSettings = ({ learner }) => learner && !learner.includes(",");
const learnerOf = (choice) => (hasSettings(choice) && choice.settings ? `${choice.learner}(${choice.settings})` : choice.learner || null);

// What was learned before a change is still what the page shows.
function stale(table, choice) {
  const { learned } = table;
  if (!learned) return [];
  const same = JSON.stringify([howRead(choice), choice.target]) === JSON.stringify([howRead(learned), learned.target]);
  return same ? [] : [make("p", { class: "callout" }, "Something has changed since this table was learned from. Learn again to have it in the page and the model.")];
}

// A large table is not read again at every change, but when that is asked for.
function pending(table, choice, actions) {
  const same = JSON.stringify([choice.types, choice.missing]) === JSON.stringify([table.types, table.missing]);
  if (same || isSmall(table)) return make("div", {});
  return make("p", { class: "callout" }, "Your changes count when you learn. To see them in this list before: ",
    make("button", { type: "button", onclick: () => actions.read(howRead(choice)) }, "Read again"));
}

function listing(table, choice, changed) {
  const { columns, rows } = table.columns;
  const lines = columns.map((column, k) => {
    const said = choice.types[column.name] || "";
    const found = column.role === "left out" && column.kind !== "ignored" ? `${column.kind}, left out` : column.kind;
    const own = said ? "automatic" : `automatic: ${found}`;
    const select = make("select", { id: `kind-${k}`, "aria-label": `Read ${column.name} as`, onchange: () => {
      if (select.value) choice.types[column.name] = select.value;
      else delete choice.types[column.name];
      changed();
    } }, make("option", { value: "" }, own), ...KINDS.map(([kind, words]) => make("option", { value: kind, selected: kind === said }, words)));
    const kinds = [column.role === "left out" || said === "ignore" ? "out" : "", column.name === choice.target ? "target" : "", said ? "changed" : ""];
    const missing = column.missing === null ? "–" : column.missing ? `${percentOf(column.missing, rows)}` : "none";
    const distinct = column.distinct === null ? "many" : `${column.estimated ? "≈ " : ""}${count(column.distinct)}`;
    return make("tr", { class: kinds.filter(Boolean).join(" ") || null, "data-column": column.name },
      make("th", { scope: "row" }, column.name), make("td", {}, select),
      make("td", { class: "num", "data-called": "missing" }, missing),
      make("td", { class: "num", "data-called": "distinct" }, column.missing === null && column.distinct === null ? "–" : distinct),
      make("td", { class: "examples" }, ...column.examples.flatMap((cell, n) => [n ? " · " : "", make("q", {}, cell)])),
      make("td", {}, column.why));
  });
  const titles = ["column", "read as", "missing", "distinct", "examples", "why"];
  const head = titles.map((name) => make("th", { scope: "col", class: ["missing", "distinct"].includes(name) ? "num" : null }, name));
  return make("table", { class: "columns-table" }, make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...lines));
}

function percentOf(part, whole) {
  const share = (100 * part) / whole;
  return share < 0.1 ? "< 0.1 %" : `${share.toFixed(1)} %`;
}

function missingCells(choice, usual, changed) {
  const shown = (choice.missing || usual).filter((cell) => cell);
  const box = make("textarea", { id: "missing", rows: Math.min(12, shown.length + 1), spellcheck: "false" });
  box.value = shown.join("\n");
  const apply = make("button", { type: "button", id: "missing-apply", onclick: () => {
    const cells = box.value.split("\n").map((cell) => cell.trim()).filter(Boolean);
    choice.missing = JSON.stringify(cells) === JSON.stringify(usual.filter((cell) => cell)) ? null : cells;
    changed();
  } }, "Use these");
  return make("details", { class: "card" }, make("summary", {}, make("span", { class: "card-name" }, "Missing values"),
    make("span", { class: "card-about" }, choice.missing ? "as you said" : "the usual ones")),
  make("label", { for: "missing" }, "Cells that mean “not known”, one to a line; empty cells always do"),
  make("p", {}, box), make("p", {}, apply));
}
