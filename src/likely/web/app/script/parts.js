// Parts that several views have: tables of words, a place for rows (a file or a path), what is being done.

import { make } from "./elements.js";
import { sendFile } from "./api.js";

export const count = (n) => n.toLocaleString("en");

export const problem = (text) => make("p", { class: "problem", role: "alert" }, text);

export function wordTable({ title, header, rows, right }, last = null) {
  const side = (k) => (right.includes(k) ? "num" : null);
  const titles = header.map((name, k) => make("th", { scope: "col", class: side(k) }, name));
  const lines = rows.map((row) => {
    const cells = row.map((cell, k) => make(k ? "td" : "th", { scope: k ? null : "row", class: side(k) }, cell));
    return make("tr", {}, ...cells, ...(last ? [make("td", {}, last(row[0]))] : []));
  });
  const more = last ? [make("td", {})] : [];
  const whole = make("table", { class: "wide" },
    make("caption", {}, title), make("thead", {}, make("tr", {}, ...titles, ...more)), make("tbody", {}, ...lines));
  return make("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": title }, whole);
}

function bytes(n) {
  const [size, unit] = n >= 1e9 ? [n / 1e9, "GB"] : [n / 1e6, "MB"];
  return `${Number(size.toPrecision(3))} ${unit}`;
}

// A box to drop a file into, or to choose one, or to type a path. `taken` gets {file} or {path}.
export function rowsFrom(id, { title, largest, taken }) {
  const wrong = make("div", {});
  const sent = make("p", { "aria-live": "polite" }, "CSV, TSV, Excel, Parquet, Arrow, JSON lines or ARFF");
  const input = make("input", { type: "file", id: `${id}-file`, "aria-label": "Choose a file", onchange: () => {
    if (input.files.length) take(input.files[0]);
    input.value = "";
  } });
  const box = make("div", { class: "drop" }, make("strong", {}, title),
    make("span", { class: "chosen" }, make("span", { class: "button first", "aria-hidden": "true" }, "Choose a file"), input), sent);
  const path = make("input", { type: "text", id: `${id}-path`, placeholder: "data/sales.csv", spellcheck: "false", autocomplete: "off" });
  const button = make("button", { type: "submit" }, "Use this path");
  const form = make("form", { class: "line", onsubmit: (event) => {
    event.preventDefault();
    if (path.value.trim()) hand({ path: path.value });
    else path.focus();
  } }, make("div", { class: "field grow" },
    make("label", { for: `${id}-path` }, "Or the path of a file or folder on this computer: it is read where it is, however large"), path), button);

  async function hand(where) {
    wrong.replaceChildren();
    try {
      await taken(where);
    } catch (error) {
      wrong.replaceChildren(problem(error.message));
    }
  }

  async function take(file) {
    wrong.replaceChildren();
    if (file.size > largest) {
      wrong.replaceChildren(problem(
        `${file.name} has ${bytes(file.size)}, more than the ${bytes(largest)} that are copied. Give its path below instead: then it is read where it is.`));
      return;
    }
    try {
      const key = await sendFile(file, (share) => sent.replaceChildren(`Copying ${file.name}: ${Math.round(100 * share)} %`));
      await hand({ file: key });
    } catch (error) {
      wrong.replaceChildren(problem(error.message));
    }
  }

  box.addEventListener("dragover", (event) => {
    event.preventDefault();
    box.classList.add("over");
  });
  box.addEventListener("dragleave", () => box.classList.remove("over"));
  box.addEventListener("drop", (event) => {
    event.preventDefault();
    box.classList.remove("over");
    if (event.dataTransfer.files.length) take(event.dataTransfer.files[0]);
  });
  return make("div", {}, box, form, wrong);
}

const DOING = {
  read: "Reading the table",
  learn: "Learning",
  compare: "Comparing learners",
  predict: "Predicting",
  decide: "Deciding",
  export: "Writing the model",
};

// What is being done with a table; `update` takes how far it is.
export function workBox(job, cancel) {
  const step = make("p", {}), far = make("p", { class: "note", "aria-hidden": "true" });
  const box = make("div", { class: "work", id: "work" }, make("div", {}, step, far),
    make("button", { type: "button", id: "cancel", onclick: cancel }, "Cancel"));
  const bar = make("progress", { "aria-label": DOING[job.kind] });
  box.append(bar);
  box.update = (now) => {
    const said = now.state === "waiting" && now.seconds > 1 ? "Waiting until another table is done" : now.step || DOING[now.kind];
    if (step.textContent !== said) step.textContent = said;
    const [, done, all] = /, (\d+) of (\d+)$/.exec(said) || [];
    if (all) Object.assign(bar, { max: Number(all), value: Number(done) - 0.5 });
    else bar.removeAttribute("value");
    const rows = now.rows ? `${count(now.rows)} rows read · ` : "";
    far.textContent = `${rows}${Math.floor(now.seconds)} s`;
  };
  box.update(job);
  return box;
}
