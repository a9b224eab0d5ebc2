// What came of a table: learners side by side, costs, files to take away.

import { make, figure } from "./elements.js";
import { count, rowsFrom, wordTable } from "./parts.js";
import { toPredict } from "./columns.js";

const MOST_CLASSES = 12;
const FIRST_REMARKS = 2;
const CALLED = { sql: "SQL", onnx: "ONNX", pmml: "PMML", python: "Python", javascript: "JavaScript" };
const ENDING = { sql: "sql", onnx: "onnx", pmml: "pmml", python: "py", javascript: "mjs" };

export function compareView(table, actions) {
  const found = table.comparison;
  const start = make("button", { class: found ? null : "first", id: "compare", type: "button",
    disabled: actions.busy || !toPredict(table).target, onclick: () => actions.compare(toPredict(table)) }, found ? "Compare again" : "Compare learners");
  const intro = make("p", {}, "Every learner predicts the same held-out rows, so their scores can be compared. Large tables take a while.");
  if (!found) return make("section", {}, intro, start);
  const use = (name) => (found.names.includes(name)
    ? make("button", { type: "button", disabled: actions.busy, onclick: () => actions.learn({ ...toPredict(table), target: found.target, learner: name }) }, "Use it")
    : "");
  const notes = (some) => make("ul", { class: "notes" }, ...some.map((words) => make("li", {}, words)));
  const rest = found.remarks.slice(FIRST_REMARKS);
  return make("section", {}, make("h2", {}, found.headline), ...found.tables.map((one) => wordTable(one, use)),
    notes(found.remarks.slice(0, FIRST_REMARKS)),
    ...(rest.length ? [make("details", { class: "fold" }, make("summary", {}, `${rest.length} more remarks`), notes(rest))] : []), start);
}

export function costsView(table, actions) {
  const { classes, decisions } = table.result;
  const learned = table.learned;
  if (classes.length > MOST_CLASSES) {
    return make("section", {}, make("p", {},
      `There are ${count(classes.length)} classes: too many for a table of costs to fill in here. In a terminal, likely look --loss takes them from a file.`));
  }
  const costs = learned.costs || {};
  const cost = (name, action) => (learned.costs ? (costs[name] || {})[action] || 0 : Number(name !== action));
  const fields = classes.map((name, i) => classes.map((action, j) => make("input", { type: "number", step: "any", id: `cost-${i}-${j}`,
    "aria-label": `Cost of saying ${action} where ${name} is true`, value: cost(name, action) })));
  const unsure = make("input", { type: "number", step: "any", id: "cost-unsure", class: "short", value: learned.abstain === null ? "" : learned.abstain });
  const send = (of, abstain) => actions.learn({ types: learned.types, missing: learned.missing, target: learned.target,
    target_bins: learned.target_bins, learner: learned.learner, costs: of, abstain });
  const form = make("form", { onsubmit: (event) => {
    event.preventDefault();
    const of = Object.fromEntries(classes.map((name, i) => [name, Object.fromEntries(classes.map((action, j) => [action, Number(fields[i][j].value) || 0]))]));
    send(of, unsure.value.trim() === "" ? null : Number(unsure.value));
  } },
  make("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "Costs" }, make("table", { class: "costs" },
    make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "what is true"), ...classes.map((a) => make("th", { scope: "col", class: "num" }, `say ${a}`)))),
    make("tbody", {}, ...classes.map((name, i) => make("tr", {}, make("th", { scope: "row" }, name), ...fields[i].map((field) => make("td", { class: "num" }, field))))))),
  make("p", {}, make("label", { for: "cost-unsure" }, "Saying “don’t know” costs (empty: not allowed) "), unsure),
  make("p", { class: "line" }, make("button", { class: "first", type: "submit", id: "costs-apply", disabled: actions.busy }, "Decide by these costs"),
    ...(decisions ? [make("button", { type: "button", disabled: actions.busy, onclick: () => send(null, null) }, "Remove costs")] : [])));
  return make("section", {}, make("h2", {}, "What a mistake costs"),
    make("p", {}, "One row for what is true, one column for what is said. A right answer usually costs nothing. Rows are then decided by the least expected cost."),
    form, ...(decisions ? decided(classes, decisions) : []));
}

function decided(classes, found) {
  const facts = [["by the model", found.mean], [`always ${found.constant}`, found.constant_mean], ["by class frequencies", found.baseline]];
  const rows = classes.map((name, i) => [name, ...found.table[i].map((n) => figure(n))]);
  const header = ["what is true", ...found.actions];
  return [make("h2", { id: "decided" }, "Cost a row, on held-out rows"),
    make("dl", { class: "facts" }, ...facts.map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, figure(value))))),
    make("div", { class: "chosen-table" }, wordTable({ title: "How often each was chosen", header, rows, right: header.map((_, k) => k).slice(1) }))];
}

const link = (table, name, words, kind = null) =>
  make("a", { class: `button ${kind || ""}`, href: `tables/${table.id}/files/${name}`, download: "" }, words);

function parcel(title, about, side, ...more) {
  return make("div", { class: "parcel" }, make("div", {}, make("h2", {}, title), make("p", {}, about)), side, ...more.map((one) => make("div", { class: "wide" }, one)));
}

export function downloadView(table, session, actions) {
  const { result, job } = table;
  const done = job && job.state === "done" ? job.answer : null;
  const made = (file) => (done && done.file === file
    ? [make("p", {}, link(table, file, `Download ${file}`, "first"), ` ${done.rows === undefined ? "" : `${count(done.rows)} rows`}`),
      make("ul", { class: "notes" }, ...done.remarks.map((words) => make("li", {}, words)))]
    : []);
  const answers = (kind, title, about, file) => {
    const keep = make("input", { type: "checkbox", id: `${kind}-keep`, checked: true });
    const from = rowsFrom(kind, { title: "Drop the other table here", largest: session.largest,
      taken: (where) => actions.answer(kind, { ...where, keep: keep.checked }) });
    return parcel(title, about, make("span", {}), ...made(file),
      make("details", { id: `${kind}-box`, open: kind === "predict" && (done === null || done.file !== file) }, make("summary", {}, "Choose the table"), from,
        make("p", {}, keep, " ", make("label", { for: `${kind}-keep` }, "Put the columns of that table first"))));
  };
  const costs = result.decisions ? [
    answers("decide", "Decisions for another table", "The action of least expected cost for every row, as CSV.", "decisions.csv"),
    parcel("Costs", "The table of costs, as likely look --loss takes it.", link(table, "costs.toml", "costs.toml"))] : [];
  const languages = result.languages.map((name) => make("button", { type: "button", id: `export-${name}`, disabled: actions.busy,
    onclick: () => actions.write(name, `model.${ENDING[name]}`) }, CALLED[name] || name));
  return make("section", {},
    make("div", { class: "parcels" },
      parcel("Model", "For likely predict, likely explain and Python. Holds counts, no rows.", link(table, "model.likely", "Model (.likely)", "first")),
      parcel("Page", "One file that opens in any browser, without a network.", link(table, "page.html", "Page (.html)", "first")),
      answers("predict", "Predictions for another table", "The class of every row, and the probability of each class, as CSV.", "predictions.csv"),
      ...costs,
      parcel("In another language", result.no_languages || "The same scores in a database or a program of yours.", make("div", { class: "buttons" }, ...languages),
        ...["sql", "onnx", "pmml", "py", "mjs"].flatMap((ending) => made(`model.${ending}`)))),
    make("h2", { id: "same" }, "The same in a terminal"), make("pre", { tabindex: "0" }, result.command));
}
