// How the probabilities answer as one value moves, the others as they are; and over two numbers, as a map.
// Knows scores and elements.

import { byId, cut, draw, make, percent, SLICE } from "./elements.js";
import { roundSteps } from "./nomogram.js";
import { cellOf, dateLabel, datesInParts, numberLabel } from "./reading.js";
import { chancesOf, scoresBy } from "./scoring.js";

const CURVE_POINTS = 81;
const MOST_LINES = 8;
const MOST_LEVELS = 24;
const CURVE_WIDE = 240;
const CURVE_HIGH = 44;
const MAP_ACROSS = 60;
const MAP_UP = 40;

// The classes that are drawn: all of a few, else those that are most probable now.
export function classesDrawn(chances) {
  const order = chances.map((_, k) => k).sort((a, b) => chances[b] - chances[a] || a - b);
  const kept = chances.length <= MOST_LINES ? order : order.slice(0, 3);
  // Of two classes one line says both.
  return chances.length === 2 ? [1] : kept.sort((a, b) => a - b);
}

// The values of an attribute that are tried: levels in their order, or points from the least to the greatest.
function triedValues(attribute, about) {
  if (attribute.kind === "level") return attribute.levels.slice(0, MOST_LEVELS).map((_, j) => j);
  const { low, high } = about;
  if (!(high > low) || !Number.isFinite(high - low)) return [];
  return Array.from({ length: CURVE_POINTS }, (_, k) => low + ((high - low) * k) / (CURVE_POINTS - 1));
}

// For each value its probabilities.
export function responseOf(portable, cells, attribute, about) {
  const by = scoresBy(portable, cells, attribute.name);
  const values = triedValues(attribute, about);
  return { values, chances: values.map((value) => chancesOf(by(value))) };
}

const TOPS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1]; // where the scale of a curve may end

// The picture above a control, with its scale; pointing at it tells a value and its probabilities. Null where there is
// nothing to move.
export function drawResponse(portable, cells, attribute, about, now) {
  if (attribute.kind === "text" || portable.classes.length < 2) return null;
  const { values, chances } = responseOf(portable, cells, attribute, about);
  if (values.length < 2) return null;
  const cell = cells.get(attribute.name);
  const lines = classesDrawn(now);
  const top = TOPS.find((end) => chances.every((each) => lines.every((k) => each[k] <= end))) ?? 1;
  const y = (p) => (CURVE_HIGH - 2 - ((CURVE_HIGH - 4) * p) / top).toFixed(1);
  const svg = draw("svg", { viewBox: `0 0 ${CURVE_WIDE} ${CURVE_HIGH}`, preserveAspectRatio: "none", class: "w-response", role: "img", "data-top": top, "aria-label": inWords(portable, attribute, values, chances, lines) });
  if (top === 1) svg.append(draw("path", { d: `M0 ${y(0.5)}H${CURVE_WIDE}`, class: "w-half" }));
  const step = CURVE_WIDE / values.length;
  const x = (value) => (CURVE_WIDE * (value - about.low)) / (about.high - about.low);
  if (attribute.kind === "level") {
    values.forEach((value, j) => {
      if (value === cell) svg.append(draw("rect", { x: (j * step).toFixed(1), y: 0, width: step.toFixed(1), height: CURVE_HIGH, class: "w-here" }));
      for (const k of lines) {
        const at = y(chances[j][k]);
        svg.append(draw("path", { d: `M${(j * step + 1.5).toFixed(1)} ${at}h${Math.max(1, step - 3).toFixed(1)}`, class: `${portable.colours[k]} w-line` }));
      }
    });
  } else {
    if (Number.isFinite(cell)) {
      const at = Math.min(CURVE_WIDE, Math.max(0, x(cell))).toFixed(1);
      svg.append(draw("path", { d: `M${at} 0V${CURVE_HIGH}`, class: "w-here-line" }));
    }
    for (const k of lines) {
      const points = values.map((value, j) => `${x(value).toFixed(1)},${y(chances[j][k])}`);
      svg.append(draw("polyline", { points: points.join(" "), class: `${portable.colours[k]} w-line` }));
    }
  }
  const tip = make("span", { class: "w-tip", hidden: true });
  const box = make("div", { class: "w-plot" }, make("span", { class: "w-most" }, `${100 * top}\u00a0%`), make("span", { class: "w-least" }, "0"), svg, tip);
  const hair = draw("path", { class: "w-hair" });
  svg.append(hair);
  svg.addEventListener("pointermove", (event) => {
    const { left, width } = svg.getBoundingClientRect();
    const share = Math.min(1, Math.max(0, (event.clientX - left) / width));
    const j = Math.min(values.length - 1, attribute.kind === "level" ? Math.floor(share * values.length) : Math.round(share * (values.length - 1)));
    const at = attribute.kind === "level" ? (j + 0.5) * step : x(values[j]);
    hair.setAttribute("d", `M${at.toFixed(1)} 0V${CURVE_HIGH}`);
    tip.textContent = `${cut(valueInWords(attribute, values[j]), 24)}: ${lines.map((k) => `${lines.length > 1 ? `${cut(portable.classes[k], 16)} ` : ""}${percent(chances[j][k])}`).join(", ")}`;
    tip.hidden = false;
    tip.classList.toggle("w-tip-left", share > 0.5);
  });
  svg.addEventListener("pointerleave", () => {
    hair.removeAttribute("d");
    tip.hidden = true;
  });
  return box;
}

const valueInWords = (attribute, value) =>
  attribute.kind === "level" ? attribute.levels[value] : attribute.kind === "date" ? dateLabel(value) : numberLabel(Number(value.toPrecision(4)));

// The same in words: from where to where the probability of the first line goes.
function inWords(portable, attribute, values, chances, lines) {
  const k = lines.at(-1);
  const own = chances.map((each) => each[k]);
  const [least, most] = [own.indexOf(Math.min(...own)), own.indexOf(Math.max(...own))];
  const word = (j) => valueInWords(attribute, values[j]);
  return `${portable.classes[k]} as ${attribute.name} moves: from ${percent(own[least])} at ${word(least)} to ${percent(own[most])} at ${word(most)}`;
}

// -- a map of two numbers ------------------------------------------------------------------------------------------

export class TwoNumbers {
  constructor(portable, about, chosen) {
    Object.assign(this, { portable, about, chosen });
    this.numbers = portable.attributes.map((_, k) => k).filter((k) => this.drawable(k));
    this.numbers.sort((a, b) => about[b].bits - about[a].bits || a - b);
    if (this.numbers.length < 2 || portable.classes.length < 2) return;
    const pick = (id, first) => {
      const select = make("select", { id, onchange: () => this.show(this.cells) });
      for (const k of this.numbers) select.append(make("option", { value: k }, cut(portable.attributes[k].name, 40)));
      select.value = String(first);
      return select;
    };
    this.x = pick("w-map-x", this.numbers[0]);
    this.y = pick("w-map-y", this.numbers[1]);
    byId("w-map-of").replaceChildren(make("label", { for: "w-map-x" }, "Across "), this.x, make("label", { for: "w-map-y" }, " up "), this.y);
    byId("w-map-key").replaceChildren(...portable.classes.flatMap((name, k) => (portable.colours[k] === "other" ? [] : [make("span", { class: `dot ${portable.colours[k]}` }), `${cut(name, 30)} `])));
    byId("w-map").hidden = false;
    byId("w-map").addEventListener("toggle", () => this.show(this.cells));
    byId("w-map-canvas").addEventListener("click", (event) => this.choose(event));
  }

  drawable(k) {
    const { kind, name, part } = this.portable.attributes[k];
    const { low, high } = this.about[k];
    return !part && !datesInParts(this.portable).has(name) && (kind === "number" || kind === "date") && high > low && Number.isFinite(high - low);
  }

  get pair() {
    return [Number(this.x.value), Number(this.y.value)];
  }

  // Line by line, in slices of time; what was begun for other values is dropped.
  show(cells) {
    this.cells = cells;
    if (!this.x || !byId("w-map").open) return;
    const [a, b] = this.pair;
    const { portable, about } = this;
    const names = [portable.attributes[a].name, portable.attributes[b].name];
    const place = (k, j, count) => about[k].low + ((j + 0.5) * (about[k].high - about[k].low)) / count;
    const canvas = byId("w-map-canvas");
    const ground = canvas.getContext("2d");
    const style = getComputedStyle(canvas);
    const colours = portable.colours.map((hue) => style.getPropertyValue(`--${hue}`).trim());
    const [wide, high] = [canvas.width / MAP_ACROSS, canvas.height / MAP_UP];
    const counts = portable.classes.map(() => 0);
    const job = {};
    this.job = job;
    byId("w-map-ends").textContent = "";
    this.axes([a, b]);
    let line = 0;
    const slice = () => {
      if (this.job !== job) return;
      for (const until = performance.now() + SLICE; line < MAP_UP && performance.now() < until; line++) {
        const own = new Map(cells).set(names[1], place(b, line, MAP_UP));
        const by = scoresBy(portable, own, names[0]);
        for (let j = 0; j < MAP_ACROSS; j++) {
          const chances = chancesOf(by(a === b ? own.get(names[1]) : place(a, j, MAP_ACROSS)));
          const best = chances.reduce((m, p, k) => (p > chances[m] ? k : m), 0);
          counts[best] += 1;
          const at = [j * wide, canvas.height - (line + 1) * high, wide, high];
          ground.clearRect(...at);
          ground.globalAlpha = Math.max(0.12, Math.min(0.85, (chances[best] - 1 / chances.length) / (1 - 1 / chances.length)));
          ground.fillStyle = colours[best];
          ground.fillRect(...at);
        }
      }
      if (line < MAP_UP) {
        setTimeout(slice);
        return;
      }
      ground.globalAlpha = 1;
      this.cross(ground, canvas, names, [a, b], style);
      this.tell(counts, names, [a, b]);
    };
    slice();
  }

  // Round numbers beside the map, and the names of both.
  axes(pair) {
    pair.forEach((k, j) => {
      const { low, high } = this.about[k];
      const date = this.portable.attributes[k].kind === "date";
      const steps = date ? [0, 0.5, 1].map((share) => low + share * (high - low)) : roundSteps(low, high, j ? 6 : 8);
      const marks = steps.map((value) => {
        const mark = make("span", {}, date ? dateLabel(Math.round(value / 86400) * 86400) : numberLabel(value).replace("-", "−"));
        mark.style[j ? "bottom" : "left"] = `${(100 * (value - low)) / (high - low)}%`;
        return mark;
      });
      byId(j ? "w-map-up" : "w-map-across").replaceChildren(...marks, make("span", { class: "w-map-name" }, cut(this.portable.attributes[k].name, 40)));
    });
  }

  cross(ground, canvas, names, pair, style) {
    const shares = pair.map((k, j) => (this.cells.get(names[j]) - this.about[k].low) / (this.about[k].high - this.about[k].low));
    if (!shares.every(Number.isFinite)) return;
    const [x, y] = [shares[0] * canvas.width, (1 - shares[1]) * canvas.height];
    ground.strokeStyle = style.getPropertyValue("--ink").trim();
    ground.lineWidth = 3;
    ground.beginPath();
    ground.moveTo(x - 10, y);
    ground.lineTo(x + 10, y);
    ground.moveTo(x, y - 10);
    ground.lineTo(x, y + 10);
    ground.stroke();
  }

  tell(counts, names, pair) {
    const { portable, about } = this;
    const word = (k, x) => (portable.attributes[k].kind === "date" ? dateLabel(x) : numberLabel(Number(x.toPrecision(4))));
    const ends = pair.map((k, j) => `${cut(names[j], 40)} from ${word(k, about[k].low)} to ${word(k, about[k].high)} ${j ? "up" : "across"}`);
    const total = MAP_ACROSS * MAP_UP;
    const named = counts.map((n, k) => [n, k]).filter(([n]) => n).sort((p, q) => q[0] - p[0]).slice(0, MOST_LINES);
    const words = `${ends.join(", ")}. Predicted: ${named.map(([n, k]) => `${cut(portable.classes[k], 30)} in ${percent(n / total)}`).join(", ")} of the map.`;
    byId("w-map-ends").textContent = words;
    byId("w-map-canvas").setAttribute("aria-label", words);
  }

  // A click puts the row there.
  choose(event) {
    const box = byId("w-map-canvas").getBoundingClientRect();
    const shares = [(event.clientX - box.left) / box.width, 1 - (event.clientY - box.top) / box.height];
    this.pair.forEach((k, j) => {
      const { low, high, whole } = this.about[k];
      const x = low + Math.min(1, Math.max(0, shares[j])) * (high - low);
      const attribute = this.portable.attributes[k];
      const spelled = attribute.kind === "date" ? dateLabel(Math.round(x / 86400) * 86400) : numberLabel(whole ? Math.round(x) : Number(x.toPrecision(4)));
      if (Number.isFinite(cellOf(attribute, spelled, this.portable.missing))) this.chosen(attribute.name, spelled);
    });
  }
}
