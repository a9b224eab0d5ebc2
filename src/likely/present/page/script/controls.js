// The controls: one for each attribute, the strongest first. Knows elements and how values are spelled; no scores.

import { byId, cut, make, marked, SLICE } from "./elements.js";
import { cellOf, dateLabel, datesInParts, numberLabel, UNSEEN } from "./reading.js";
import { drawResponse } from "./responses.js";

const FEW = 12;
const NOT_MANY = 16;
const STEPS = 1000;
export const ANOTHER = "(another level)";

export class Controls {
  constructor(portable, about, state, changed) {
    Object.assign(this, { portable, about, state, changed });
    // A date has one control, which sets its parts; it stands where the part that tells most would.
    const told = (k) => Math.max(...about.map(({ bits }, j) => (j === k || portable.attributes[j].part_of === portable.attributes[k].name ? bits : 0)));
    this.order = portable.attributes.map((_, k) => k).filter((k) => !portable.attributes[k].part);
    this.order.sort((a, b) => told(b) - told(a) || a - b);
    this.made = new Map();
    this.touched = new Set();
    this.many = this.order.length > NOT_MANY;
    this.all = !this.many;
    byId("w-filter").addEventListener("input", () => this.show());
    byId("w-more").addEventListener("click", () => {
      this.all = !this.all;
      this.show();
    });
  }

  // Those that the filter lets through; without one the strongest, and all that were touched.
  show() {
    const wanted = byId("w-filter").value.toLowerCase();
    const { attributes } = this.portable;
    const passed = this.order.filter((k) => attributes[k].name.toLowerCase().includes(wanted));
    const some = this.all || wanted ? passed : passed.filter((k, j) => j < FEW || this.touched.has(k));
    byId("w-fields").replaceChildren(...some.map((k) => this.control(k).box));
    byId("w-more").hidden = Boolean(wanted) || !this.many;
    byId("w-more").textContent = this.all ? `Show the ${FEW} strongest` : `Show all ${this.order.length}`;
    byId("w-search").hidden = !this.many;
    byId("w-none").hidden = some.length > 0;
    for (const k of some) this.made.get(k).refresh();
  }

  // How the answer would move with each value that can be seen here, in slices of time.
  respond(portable, cells, chances, go) {
    const open = [...this.made].filter(([, control]) => control.box.isConnected && control.response);
    const slice = () => {
      for (const until = performance.now() + SLICE; open.length && performance.now() < until; ) {
        const [k, control] = open.shift();
        const drawn = drawResponse(portable, cells, portable.attributes[k], this.about[k], chances);
        control.response.replaceChildren(...(drawn ? [drawn] : []));
      }
      if (open.length) setTimeout(() => go() && slice());
    };
    slice();
  }

  // Words of texts in the colours of what they say; `pieces` gives a text as nodes.
  colour(pieces) {
    for (const [k, control] of this.made) {
      if (!control.ink || !control.box.isConnected) continue;
      const { name } = this.portable.attributes[k];
      const text = this.state.values.get(name);
      control.ink.replaceChildren(...(text ? pieces(name, text) : []), "\n");
      control.scrolled();
    }
  }

  refresh() {
    for (const control of this.made.values()) if (control.box.isConnected) control.refresh();
  }

  control(k) {
    if (!this.made.has(k)) {
      const attribute = this.portable.attributes[k];
      const kinds = { level: levelControl, number: numberControl, date: numberControl, text: textControl };
      const set = (value) => {
        this.touched.add(k);
        this.changed(attribute.name, value);
      };
      const get = () => this.state.values.get(attribute.name);
      this.made.set(k, kinds[attribute.kind](`w-a${k}`, attribute, this.about[k], get, set, this.portable));
    }
    return this.made.get(k);
  }
}

const heading = (id, attribute) => make("label", { for: id, class: "w-name", title: attribute.name }, cut(attribute.name, 60) || "(no name)");

function levelControl(id, attribute, about, get, set, portable) {
  const select = make("select", { id, onchange: () => set(select.value === "" ? null : told(select.value)) });
  const told = (value) => (value === "another" ? anotherLevel(attribute) : attribute.levels[Number(value)]);
  select.append(make("option", { value: "" }, "unknown"));
  attribute.levels.forEach((level, j) => select.append(make("option", { value: j }, cut(level, 80))));
  select.append(make("option", { value: "another" }, ANOTHER));
  const refresh = () => {
    const cell = cellOf(attribute, get(), portable.missing);
    select.value = cell >= 0 ? String(cell) : cell === UNSEEN ? "another" : "";
  };
  const response = make("div", { class: "w-answer" });
  return { box: make("div", { class: "w-field" }, heading(id, attribute), response, select), refresh, response };
}

// A text that is surely no level of training.
function anotherLevel(attribute) {
  if (attribute.numeric) return numberLabel(1 + Math.max(0, ...attribute.levels.map(Number)));
  let text = ANOTHER;
  while (attribute.levels.includes(text)) text = `(${text})`;
  return text;
}

function numberControl(id, attribute, about, get, set, portable) {
  const isDate = attribute.kind === "date";
  const inParts = isDate && datesInParts(portable).has(attribute.name);
  const timed = portable.attributes.some((a) => a.part === "hour" && a.part_of === attribute.name);
  const { low, high } = about;
  const spelled = (x) => {
    if (inParts) return dateLabel(Math.round(x / (timed ? 3600 : 86400)) * (timed ? 3600 : 86400));
    if (isDate) return dateLabel(high - low > 20 * 86400 ? Math.round(x / 86400) * 86400 : x);
    if (about.whole) return numberLabel(Math.round(x));
    const digits = Math.max(0, Math.min(100, 3 - Math.floor(Math.log10(high - low || 1))));
    return numberLabel(Number(digits > 15 ? x.toPrecision(4) : x.toFixed(digits)));
  };
  const box = make("input", {
    id, type: inParts ? (timed ? "datetime-local" : "date") : "text", inputmode: isDate ? "text" : "decimal", autocomplete: "off",
    placeholder: "unknown", step: "1", "aria-describedby": `${id}-wrong`,
    oninput: () => set(box.value.trim() === "" ? null : inParts ? box.value.replace("T", " ") : box.value),
  });
  // A date as its control wants it.
  const picked = (x) => {
    const [day, time] = Number.isFinite(x) ? dateLabel(x).split(" ") : [""];
    return timed && day ? `${day}T${time ?? "00:00:00"}` : day;
  };
  const slider = make("input", {
    type: "range", min: 0, max: STEPS, step: 1, "aria-label": `${attribute.name}, from ${spelled(low)} to ${spelled(high)}`,
    oninput: () => {
      const share = Number(slider.value) / STEPS;
      set(spelled(low * (1 - share) + high * share));
    },
  });
  let before = null; // what it was before it was unknown
  const unknown = make("input", {
    type: "checkbox",
    onchange: () => {
      if (unknown.checked) before = get();
      set(unknown.checked ? null : before ?? about.typical.find((value) => value !== null) ?? spelled(low / 2 + high / 2));
    },
  });
  const wrong = make("span", { id: `${id}-wrong`, class: "w-wrong" });
  const refresh = () => {
    const value = get();
    const x = cellOf(attribute, value, portable.missing);
    if (document.activeElement !== box) box.value = inParts ? picked(x) : value ?? "";
    unknown.checked = value === null;
    const known = Number.isFinite(x);
    const share = known ? (x - low) / (high - low || 1) : 0.5;
    slider.value = String(Math.round(Math.min(1, Math.max(0, share)) * STEPS));
    slider.classList.toggle("w-off", !known);
    slider.setAttribute("aria-valuetext", known ? value : "unknown");
    const bad = value !== null && !known;
    marked(box, bad);
    wrong.textContent = bad ? (isDate ? "no date: counts as unknown" : "no number: counts as unknown") : "";
  };
  // A date moves all its parts: as it passes over days and hours, a curve would be all teeth.
  const response = inParts ? null : make("div", { class: "w-answer" });
  const ends = make("div", { class: "w-ends", "aria-hidden": true }, make("span", {}, spelled(low)), make("span", {}, spelled(high)));
  const row = make("div", { class: "w-number" }, box, make("label", { class: "w-unknown" }, unknown, " unknown"));
  const field = make("div", { class: "w-field" }, heading(id, attribute), row);
  if (high > low && Number.isFinite(high - low)) field.append(response ?? "", make("div", { class: "w-slide" }, slider), ends);
  field.append(wrong);
  return { box: field, refresh, response };
}

// Behind the box stands the same text again, its words on coloured ground.
function textControl(id, attribute, about, get, set) {
  const ink = make("div", { class: "w-ink", "aria-hidden": true });
  const scrolled = () => {
    ink.scrollTop = box.scrollTop;
  };
  const box = make("textarea", { id, rows: 4, placeholder: "unknown", spellcheck: "false", oninput: () => set(box.value === "" ? null : box.value), onscroll: scrolled });
  const refresh = () => {
    if (document.activeElement !== box) box.value = get() ?? "";
  };
  return { box: make("div", { class: "w-field w-wide" }, heading(id, attribute), make("div", { class: "w-text" }, ink, box)), refresh, ink, scrolled };
}
