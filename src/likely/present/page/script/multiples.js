// What is inside a line of the ledger, drawn small and on one scale: what a value says by itself as it moves, a curve, and
// with another, a grid. Knows the portable form, evidence and elements.

import { bits, cut, draw, make } from "./elements.js";
import { logOdds, partsAt } from "./evidence.js";
import { dateLabel, numberLabel } from "./reading.js";
import { scoresBy } from "./scoring.js";

const MOST_SMALL = 6;
const SMALL_POINTS = 41;
const SMALL_STEPS = 9;
const SMALL_WIDE = 132;
const SMALL_HIGH = 60;

// The level of the row is among those that are drawn.
function valuesAlong({ kind, levels, low, high }, most, cell) {
  if (kind === "level") return levels.slice(0, most).map((_, k) => (k === most - 1 && cell > k ? cell : k));
  return high > low && Number.isFinite(high - low) ? Array.from({ length: most }, (_, k) => low + ((high - low) * k) / (most - 1)) : [];
}

const toldAs = ({ kind, levels }, x) => (kind === "level" ? levels[x] : kind === "date" ? dateLabel(x) : numberLabel(Number(x.toPrecision(4))));
// How far along an axis of such values a cell is; null where it has no place.
const shareOf = ({ kind, low, high }, values, cell) => {
  if (kind === "level") return values.includes(cell) ? (values.indexOf(cell) + 0.5) / values.length : null;
  return Number.isFinite(cell) ? Math.min(1, Math.max(0, (cell - low) / (high - low))) : null;
};

// Drawings of an attribute's parts, the strongest first; of one that has no parts, of its line as a whole.
export function multiplesOf(portable, cells, about, name, parts, a, b) {
  const by = (other) => {
    const k = portable.attributes.findIndex((one) => one.name === other);
    if (k < 0 || portable.attributes[k].kind === "text") return null;
    const [low, high] = about[k].inner?.[0] < about[k].inner?.[1] ? about[k].inner : [about[k].low, about[k].high];
    return { ...portable.attributes[k], low, high };
  };
  const own = by(name);
  if (!own) return [];
  const ratioOf = (label, values) => {
    const logs = partsAt(portable, new Map([...cells, ...values]), name).get(label);
    return logs ? logs[a] - logs[b] : 0;
  };
  const whole = scoresBy(portable, cells, name);
  const odds = logOdds(whole(cells.get(name)), a, b);
  const found = (parts.length ? parts : [{ name: "", ratio: 0 }]).slice(0, MOST_SMALL).map(({ name: label, ratio }) => {
    const other = label.startsWith("with ") ? by(label.slice(5)) : null;
    const across = valuesAlong(own, other ? SMALL_STEPS : own.kind === "level" ? 24 : SMALL_POINTS, cells.get(name));
    const up = other ? valuesAlong(other, SMALL_STEPS, cells.get(other.name)) : [null];
    const at = (x, y) => (label ? ratioOf(label, y === null ? [[name, x]] : [[name, x], [other.name, y]]) : logOdds(whole(x), a, b) - odds + ratio);
    return { label, other, across, up, ratios: up.map((y) => across.map((x) => at(x, y))) };
  }).filter(({ across, up }) => across.length > 1 && up.length);
  const [curves, grids] = [false, true].map((isGrid) => Math.max(1e-9, ...found.filter(({ other }) => Boolean(other) === isGrid).flatMap(({ ratios }) => ratios.flat()).filter(Number.isFinite).map(Math.abs)));
  const hues = [portable.colours[b], portable.colours[a]];
  return found.map((one) => {
    const drawn = one.other ? gridOf(one, own, cells, grids, hues) : curveOf(one, own, cells, curves, hues);
    const flat = one.ratios.flat();
    const [least, greatest] = [Math.min(...flat), Math.max(...flat)];
    const ends = `${cut(toldAs(own, one.across[0]), 10)} – ${cut(toldAs(own, one.across.at(-1)), 10)}`;
    const told = `${name} ${one.label || "as it moves"}: from ${bits(least)} to ${bits(greatest)} bits`;
    const svg = draw("svg", { viewBox: `0 0 ${SMALL_WIDE} ${SMALL_HIGH}`, width: SMALL_WIDE, height: SMALL_HIGH, class: "w-small", role: "img", "aria-label": told });
    svg.append(draw("title", {}, told), ...drawn);
    return make("figure", {}, make("figcaption", {}, one.other ? `${cut(one.other.name, 18)} ↑` : one.label || "as it moves"), svg, make("span", {}, ends));
  }).concat(found.length ? make("p", { class: "w-note" }, `${cut(name, 30)} moves from left to right. Above the line, and in the colour of ${cut(portable.classes[a], 20)}, is evidence for it: ${bits(curves).slice(1)} bits at most${found.some(({ other }) => other) ? `; in the grids, the other attribute upwards, ${bits(grids).slice(1)}` : ""}.`) : []);
}

const hueOf = (ratio, hues) => hues[ratio > 0 ? 1 : 0];

function curveOf({ across, ratios: [row] }, own, cells, most, hues) {
  const y = (ratio) => (SMALL_HIGH / 2 - (SMALL_HIGH / 2 - 2) * Math.max(-1, Math.min(1, ratio / most))).toFixed(1);
  const step = SMALL_WIDE / across.length;
  const here = shareOf(own, across, cells.get(own.name));
  const out = [draw("path", { class: "w-half", d: `M0 ${SMALL_HIGH / 2}H${SMALL_WIDE}` })];
  if (here !== null) out.push(draw("path", { class: "w-here-line", d: `M${(here * SMALL_WIDE).toFixed(1)} 0V${SMALL_HIGH}` }));
  if (own.kind === "level") row.forEach((ratio, k) => out.push(draw("path", { class: `${hueOf(ratio, hues)} w-line`, d: `M${(k * step + 1).toFixed(1)} ${y(ratio)}h${Math.max(1, step - 2).toFixed(1)}` })));
  else out.push(draw("polyline", { class: `${hues[1]} w-line`, points: row.map((ratio, k) => `${((SMALL_WIDE * k) / (row.length - 1)).toFixed(1)},${y(ratio)}`).join(" ") }));
  return out;
}

function gridOf({ across, up, ratios, other }, own, cells, most, hues) {
  const [wide, high] = [SMALL_WIDE / across.length, SMALL_HIGH / up.length];
  const out = ratios.flatMap((row, j) => row.map((ratio, k) => draw("rect", {
    class: `${hueOf(ratio, hues)} w-cell`, x: (k * wide).toFixed(1), y: (SMALL_HIGH - (j + 1) * high).toFixed(1), width: wide.toFixed(1), height: high.toFixed(1), opacity: Math.min(1, Math.abs(ratio) / most).toFixed(2),
  })));
  const [x, y] = [shareOf(own, across, cells.get(own.name)), shareOf(other, up, cells.get(other.name))];
  if (x !== null && y !== null) out.push(draw("circle", { class: "w-beyond", r: 3.5, cx: (x * SMALL_WIDE).toFixed(1), cy: (SMALL_HIGH - y * SMALL_HIGH).toFixed(1) }));
  return out;
}
