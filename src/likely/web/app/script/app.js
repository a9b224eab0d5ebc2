// The app: which table and which view is shown, what is asked of the server, and how far it is.

import { make, byId } from "./elements.js";
import { ask } from "./api.js";
import { count, problem, rowsFrom, workBox } from "./parts.js";
import { columnsView, forget, headerField, undoReading } from "./columns.js";
import { compareView, costsView, downloadView } from "./results.js";

const POLL = 300; // milliseconds
const VIEWS = [["columns", "Columns"], ["page", "Page"], ["compare", "Compare"], ["costs", "Costs"], ["download", "Download"]];
const NEEDS_MODEL = ["page", "costs", "download"];

let session = null;
const tables = new Map(); // what the server last said of each
let shown = ""; // what is drawn now
let wrong = ""; // what was refused last
let timer = 0;

function place() {
  const [id, view] = location.hash.slice(1).split("/");
  return { id: Number(id) || 0, view: view || "columns" };
}

const go = (id, view) => (location.hash = `#${id}/${view}`);

async function refresh(id) {
  const known = tables.get(id);
  const found = await ask("GET", `tables/${id}?known=${known ? known.version : -1}`);
  return take(found.name === undefined ? { ...known, job: found.job } : found, known && isOpen(known.job));
}

const isOpen = (job) => job && (job.state === "waiting" || job.state === "running");

// What the server says of a table, after something was being done or not: a change that could not be read is taken back.
function take(table, worked) {
  const { id, job } = table;
  tables.set(id, table);
  if (worked && job && job.kind === "read" && job.state !== "done" && !isOpen(job)) undoReading(table);
  return table;
}

// Asks again and again while something is being done.
function watch(id) {
  clearTimeout(timer);
  timer = setTimeout(async () => {
    try {
      const before = tables.get(id);
      const now = await refresh(id);
      if (place().id !== id) return;
      if (isOpen(before.job) && !isOpen(now.job)) ended(now);
      render();
      if (isOpen(now.job)) watch(id);
    } catch (error) {
      wrong = error.message;
      render(true);
    }
  }, POLL);
}

// When something is done, its result is shown.
function ended(table) {
  const { kind, state, error } = table.job;
  byId("said").textContent = state === "done" ? "Done." : error;
  if (state !== "done") return;
  if (kind === "learn" && place().view !== "costs") go(table.id, "page");
  if (kind === "compare") go(table.id, "compare");
}

async function order(id, path, body) {
  wrong = "";
  try {
    const now = take(await ask("POST", `tables/${id}/${path}`, body), true);
    // On a busy machine it may be done before the answer is here.
    if (now.job && !isOpen(now.job) && place().id === id) ended(now);
  } catch (error) {
    wrong = error.message;
  }
  render(true);
  watch(id);
}

function actionsOf(table) {
  const { id } = table;
  return {
    busy: Boolean(isOpen(table.job)),
    read: (body) => order(id, "read", body),
    learn: (body) => order(id, "learn", body),
    compare: (body) => order(id, "compare", body),
    answer: (kind, body) => order(id, kind, body),
    write: (language) => order(id, "export", { language }),
    cancel: () => order(id, "cancel"),
  };
}

function renderTables() {
  const here = place().id;
  byId("tables").replaceChildren(...session.tables.map(({ id, name }) => make("li", { class: id === here ? "here" : null },
    make("a", { href: `#${id}/columns`, title: name, "aria-current": id === here ? "page" : null }, name),
    make("button", { class: "close", type: "button", "aria-label": `Close ${name}`, onclick: () => close(id) }, "×"))));
}

async function close(id) {
  await ask("DELETE", `tables/${id}`).catch(() => {});
  forget(id);
  tables.delete(id);
  session.tables = session.tables.filter((table) => table.id !== id);
  if (place().id === id) location.hash = session.tables.length ? `#${session.tables[0].id}/columns` : "#open";
  else renderTables();
}

async function opened(where) {
  const table = await ask("POST", "tables", where);
  tables.set(table.id, table);
  session.tables.push({ id: table.id, name: table.name });
  go(table.id, "columns");
}

function openView() {
  const from = rowsFrom("open", { title: "Drop a table here", largest: session.largest, taken: opened });
  const sample = make("button", { type: "button", id: "sample", onclick: () => opened({ sample: true }) }, "Try a sample: 344 penguins");
  return [make("div", { class: "head" }, make("h1", {}, "What can be predicted from your table?"),
    make("p", { class: "lead" }, "Open a table, choose a column, and see how well the others predict it, and why.")), from, make("p", {}, sample),
  make("p", { class: "note" }, `Everything stays on this computer. What is copied or learned here is removed when the app ends. Paths start from ${session.folder}.`)];
}

function tableHead(table, view) {
  const size = table.columns ? `${count(table.columns.rows)} rows, ${count(table.columns.columns.length)} columns` : "";
  const steps = VIEWS.map(([key, words]) => {
    const able = key === "columns" || (NEEDS_MODEL.includes(key) ? table.result : table.columns);
    return make("li", {}, able
      ? make("a", { href: `#${table.id}/${key}`, "aria-current": key === view ? "page" : null }, words)
      : make("span", { "aria-disabled": "true", title: "Learn first" }, words));
  });
  const aside = view === "page" ? [make("li", { class: "aside" }, make("a", { href: `tables/${table.id}/page`, target: "_blank", rel: "noopener" }, "Open in a new tab"))] : [];
  return make("div", { class: "head" }, make("h1", { class: "name" }, table.name, make("span", { class: "note" }, size ? ` · ${size}` : "")),
    ...(table.result ? [make("p", { class: "lead" }, table.result.headline)] : []), make("ol", { class: "steps" }, ...steps, ...aside));
}

function notesOf(table) {
  return table.columns && table.columns.notes.length ? [make("ul", { class: "notes" }, ...table.columns.notes.map((words) => make("li", {}, words)))] : [];
}

// The frame of a page stays as it is, with what was tried out in it, until the table is learned from again.
function frameOf(table) {
  const src = `tables/${table.id}/page?learned=${table.learnings}`;
  const here = document.querySelector("iframe");
  if (here && here.getAttribute("src") === src) return here;
  return make("iframe", { class: "frame-box", sandbox: "allow-scripts allow-downloads allow-popups", title: `The page of ${table.name}`, src });
}

function viewOf(table, view) {
  const actions = actionsOf(table);
  if (!table.columns) return isOpen(table.job) ? [] : headerField(table, actions);
  if (view === "page") {
    return [frameOf(table)];
  }
  if (view === "compare") return [compareView(table, actions)];
  if (view === "costs") return [costsView(table, actions)];
  if (view === "download") return [downloadView(table, session, actions)];
  return [columnsView(table, session, actions), ...notesOf(table)];
}

function render(anew = false) {
  const { id, view: asked } = place();
  const main = byId("main"), table = tables.get(id);
  const view = table && NEEDS_MODEL.includes(asked) && !table.result ? "columns" : asked;
  const job = table && isOpen(table.job) ? table.job : null;
  const what = `${id}/${view}/${table ? table.version : ""}/${wrong}`;
  if (!anew && what === shown) {
    const box = byId("work");
    if (box && job) box.update(job);
    return;
  }
  shown = what;
  const focused = document.activeElement && document.activeElement.id;
  document.title = table ? `${table.name} · likely` : "likely";
  byId("open-another").hidden = !table;
  renderTables();
  main.classList.toggle("filled", Boolean(table) && view === "page");
  const failed = table && table.job && table.job.state === "failed" ? table.job.error : "";
  const said = wrong || failed ? [problem(wrong || failed)] : [];
  if (!table) {
    main.replaceChildren(...openView(), ...said);
  } else {
    const head = tableHead(table, view);
    head.append(...(job ? [workBox(job, actionsOf(table).cancel)] : []), ...said);
    const parts = viewOf(table, view);
    if (parts.length && parts[0].parentNode === main) main.firstElementChild.replaceWith(head); // a frame that is moved begins anew
    else main.replaceChildren(head, ...parts);
  }
  const again = focused && byId(focused);
  if (again) again.focus({ preventScroll: true });
}

async function moved() {
  clearTimeout(timer);
  const { id } = place();
  wrong = "";
  try {
    if (id) await refresh(id);
  } catch (error) {
    tables.delete(id);
    session.tables = session.tables.filter((table) => table.id !== id);
    location.hash = "#open";
    wrong = error.message;
  }
  render(true);
  if (id && tables.has(id) && isOpen(tables.get(id).job)) watch(id);
}

async function start() {
  session = await ask("GET", "session");
  if (!location.hash && session.tables.length) location.hash = `#${session.tables.at(-1).id}/columns`;
  addEventListener("hashchange", moved);
  // A file that misses the box must not take the place of the app.
  for (const name of ["dragover", "drop"]) addEventListener(name, (event) => event.preventDefault());
  await moved();
}

start().catch((error) => byId("main").replaceChildren(problem(error.message)));
