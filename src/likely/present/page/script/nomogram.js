// The nomogram: what each value is worth in points, and what the points together say of the odds of two classes.
// Knows the portable form and SVG.

import { bits, cut, draw, percent } from "./elements.js";
import { dateLabel, numberLabel } from "./reading.js";
import { sumOf, termsOf } from "./scoring.js";

const MOST = 14;
const WIDTH = 720;
const LEFT = 150;
const RIGHT = 24;
const HIGH = 44;
const TICKS = 9;
const TRIED = 161;
const FAR = 7; // nats, about ten bits: farther values of a number have no place on its line

// Lines {name, marks: [{told, ratio}], now} of the attributes that stand alone in a sum, the widest first.
export function linesOf(portable, cells, about, a, b) {
  const form = sumOf(portable);
  if (!form) return null;
  const lines = [];
  const ratioOf = (name, cell) => {
    const logs = termsOf(form, new Map(cells).set(name, cell), portable).get(name);
    return logs ? logs[a] - logs[b] : NaN;
  };
  portable.attributes.forEach((attribute, k) => {
    const { name, kind } = attribute;
    let values = [];
    if (kind === "level") values = attribute.levels.map((level, code) => [level, code]);
    if (kind === "number" || kind === "date") {
      values = spread(about[k], (x) => Math.abs(ratioOf(name, x)) <= FAR, kind === "date");
    }
    const marks = values.map(([told, cell]) => ({ told, ratio: ratioOf(name, cell) })).filter((m) => Number.isFinite(m.ratio));
    if (marks.length < 2) return;
    const cell = cells.get(name);
    const known = kind === "level" ? cell >= 0 : Number.isFinite(cell);
    const now = known ? ratioOf(name, cell) : null;
    const all = marks.map((m) => m.ratio).concat(now !== null && Math.abs(now) <= FAR ? [now] : []);
    const [low, high] = [Math.min(...all), Math.max(...all)];
    if (high > low) lines.push({ name, marks, now, low, high });
  });
  lines.sort((one, other) => other.high - other.low - (one.high - one.low));
  return { lines: lines.slice(0, MOST), more: Math.max(0, lines.length - MOST) };
}

// Some numbers within the range of training and the reach of the line, as they are spelled and as they are.
function spread(about, near, isDate) {
  const even = Array.from({ length: TRIED }, (_, j) => about.low + ((about.high - about.low) * j) / (TRIED - 1));
  const some = even.filter(near);
  if (some.length < 2) return [];
  const [low, high] = [some[0], some.at(-1)];
  const values = Array.from({ length: TICKS }, (_, j) => {
    const x = low + ((high - low) * j) / (TICKS - 1);
    const round = about.whole ? Math.round(x) : Number(x.toPrecision(3));
    return [isDate ? dateLabel(round) : numberLabel(round), round];
  });
  return values.filter(([told, x], j) => near(x) && (!j || told !== values[j - 1][0]));
}

export function nomogram(found, names, odds, described) {
  const { lines } = found;
  const widest = Math.max(...lines.map((line) => line.high - line.low), 1e-9);
  const room = WIDTH - LEFT - RIGHT;
  const x = (points) => LEFT + (points / 100) * room;
  const height = HIGH * (lines.length + 1) + 96;
  const svg = draw("svg", { viewBox: `0 0 ${WIDTH} ${height}`, class: "chart w-nomogram", role: "img", "aria-label": described });
  const text = (at, y, told, anchor = "middle", kind = "") =>
    draw("text", { x: at, y, "text-anchor": anchor, class: `w-tick ${kind}` }, told);
  svg.append(text(8, 24, "points", "start", "w-strong"));
  svg.append(draw("line", { x1: LEFT, x2: WIDTH - RIGHT, y1: 28, y2: 28, class: "w-axis" }));
  for (let p = 0; p <= 100; p += 10) {
    svg.append(draw("line", { x1: x(p), x2: x(p), y1: 24, y2: 28, class: "w-axis" }), text(x(p), 18, String(p)));
  }
  lines.forEach((line, k) => {
    const y = HIGH * (k + 1) + 22;
    const at = (ratio) => x(((ratio - line.low) / widest) * 100);
    svg.append(text(8, y + 4, cut(line.name, 22), "start", "w-strong"));
    svg.append(draw("line", { x1: at(line.low), x2: at(line.high), y1: y, y2: y, class: "w-axis" }));
    const taken = { up: [], down: [] };
    line.marks.forEach((mark, j) => {
      const rising = j === 0 || mark.ratio >= line.marks[j - 1].ratio;
      const side = rising ? "down" : "up";
      const told = cut(mark.told, 16);
      const half = 3.2 * told.length + 3;
      const place = at(mark.ratio);
      svg.append(draw("line", { x1: place, x2: place, y1: y, y2: y + (rising ? 5 : -5), class: "w-axis" }));
      const spot = [side, rising ? "up" : "down"].find((s) => taken[s].every(([l, r]) => place + half < l || place - half > r));
      if (!spot) return;
      taken[spot].push([place - half, place + half]);
      svg.append(text(place, spot === "down" ? y + 17 : y - 8, told));
    });
    if (line.now !== null && !Number.isNaN(line.now)) {
      // A value beyond the end of its line stands at the end, as a ring.
      const beyond = line.now < line.low || line.now > line.high;
      const spot = at(Math.min(line.high, Math.max(line.low, line.now)));
      svg.append(draw("circle", { cx: spot, cy: y, r: 5, class: beyond ? "w-beyond" : "w-now" }));
    }
  });
  const y = HIGH * (lines.length + 1) + 34;
  const end = Number.isFinite(odds) ? odds : Math.sign(odds) * 12;
  const far = Math.max(6, Math.ceil(Math.abs(end)) + 1);
  const place = (logOdds) => LEFT + ((logOdds + far) / (2 * far)) * room;
  svg.append(text(8, y + 4, cut(`P(${names[0]})`, 22), "start", "w-strong"));
  svg.append(draw("line", { x1: LEFT, x2: WIDTH - RIGHT, y1: y, y2: y, class: "w-axis" }));
  const shown = [];
  for (const p of [0.5, 0.9, 0.1, 0.99, 0.01, 0.75, 0.25, 0.999, 0.001]) {
    const spot = place(Math.log(p / (1 - p)));
    if (spot < LEFT || spot > WIDTH - RIGHT || shown.some((s) => Math.abs(s - spot) < 44)) continue;
    shown.push(spot);
    svg.append(draw("line", { x1: spot, x2: spot, y1: y, y2: y + 5, class: "w-axis" }), text(spot, y + 17, `${100 * p} %`));
  }
  svg.append(draw("circle", { cx: place(end), cy: y, r: 6, class: "w-now" }));
  const told = Number.isFinite(odds) ? percent(1 / (1 + Math.exp(-odds))) : percent(odds > 0 ? 1 : 0);
  const note = `${told} against ${cut(names[1], 20)}; the longest line is worth ${bits(widest).slice(1)} bits, 100 points`;
  svg.append(text(WIDTH / 2, y + 42, note));
  return svg;
}
