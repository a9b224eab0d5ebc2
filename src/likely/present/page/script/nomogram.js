// The nomogram: points of each value, the total of a row, and the probability that goes with it, to be read by hand.
// Knows the portable form and SVG.

import { unknownIn } from "./completion.js";
import { cut, draw, figure, percent } from "./elements.js";
import { logOdds } from "./evidence.js";
import { dateLabel, numberLabel } from "./reading.js";
import { readBy, scoresBy, scoresOf, sumOf } from "./scoring.js";

const MOST = 14;
const WIDTH = 800;
const LEFT = 232;
const RIGHT = 66;
const HIGH = 46;
const TRIED = 97;
const TRIED_ROUGHLY = 25; // where unknown cells are averaged over each takes many answers
const FAR = 7; // nats, about ten bits: farther values of a number have no place on its line
const LEAST = 0.02; // nats: a shorter line is not worth drawing
const CHANCES = [0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.001, 0.999];

// Round numbers from low to high, about so many.
export function roundSteps(low, high, about) {
  const raw = (high - low) / about;
  if (!(raw > 0) || !Number.isFinite(raw)) return [low];
  const size = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((k) => k * size).find((s) => s >= raw * 0.999);
  const out = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k++) out.push(Number((k * step).toPrecision(12)));
  return out;
}

// Lines {name, marks: [{told, ratio}], now, low, high} of a row, those that reveal most first: `now` is the evidence of its
// value, as in the ledger, and a mark how that would be were this value alone another. So points add up to the answer of the
// row, and `alone`, where no term reads several attributes, to that of any. The ends of a number's line are where nearly all
// rows are.
export function linesOf(portable, cells, about, a, b, entries) {
  const form = sumOf(portable);
  const odds = logOdds(scoresOf(portable, cells), a, b);
  if (!form || form.whole || !Number.isFinite(odds) || entries.some((e) => e.whole)) return null;
  const gone = unknownIn(portable, cells).length > 0;
  const used = new Set(form.terms.flatMap(readBy));
  const open = portable.attributes.map((attribute, k) => ({ ...attribute, ...about[k] })).filter((one) => used.has(one.name) && one.kind !== "text");
  open.sort((one, other) => other.bits - one.bits);
  const lines = [];
  while (open.length && lines.length < MOST) {
    const attribute = open.shift();
    const { name, kind } = attribute;
    const now = entries.find((e) => e.name === name)?.ratio ?? 0;
    const by = scoresBy(portable, cells, name);
    const ratioOf = (cell) => now + logOdds(by(cell), a, b) - odds;
    const near = (ratio) => Number.isFinite(ratio) && Math.abs(ratio) <= FAR;
    let marks = [];
    let reach = [];
    if (kind === "level") {
      marks = attribute.levels.map((level, code) => ({ told: level, ratio: ratioOf(code) })).filter((m) => Number.isFinite(m.ratio));
    } else {
      const [from, to] = attribute.inner[0] < attribute.inner[1] ? attribute.inner : [attribute.low, attribute.high];
      const tell = kind === "date" ? dateLabel : (x) => numberLabel(Number(x.toPrecision(6))).replace("-", "−");
      const steps = kind === "date" ? Array.from({ length: 5 }, (_, j) => Math.round((from + ((to - from) * j) / 4) / 86400) * 86400) : roundSteps(from, to, 8);
      const tried = gone ? TRIED_ROUGHLY : TRIED;
      marks = steps.map((x) => ({ told: tell(x), ratio: ratioOf(x) })).filter((m) => near(m.ratio));
      reach = Array.from({ length: tried }, (_, j) => ratioOf(from + ((to - from) * j) / (tried - 1))).filter(near);
    }
    const all = [...reach, ...marks.map((m) => m.ratio)];
    const [low, high] = [Math.min(...all), Math.max(...all)];
    if (all.length > 1 && high - low >= LEAST) lines.push({ name, marks, now, known: known(kind, cells.get(name)), low, high });
  }
  const alone = !gone && form.terms.every((term) => readBy(term).length < 2 || term.pooled);
  return { lines, more: open.length, texts: portable.attributes.some(({ kind }) => kind === "text"), alone };
}

// Whole numbers that add up to the whole number of the sum: those with the largest fractions are rounded up.
export function wholeParts(values) {
  const out = values.map(Math.floor);
  const order = values.map((_, k) => k).sort((j, k) => values[k] - out[k] - (values[j] - out[j]));
  const left = Math.round(values.reduce((x, y) => x + y, 0)) - out.reduce((x, y) => x + y, 0);
  for (const k of order.slice(0, left)) out[k] += 1;
  return out;
}

const known = (kind, cell) => (kind === "level" ? cell >= 0 : Number.isFinite(cell));

export function nomogram(found, names, odds, described) {
  const { lines } = found;
  const widest = Math.max(...lines.map((line) => line.high - line.low), 1e-9);
  const room = WIDTH - LEFT - RIGHT;
  const x = (points) => LEFT + (points / 100) * room;
  const pointsOf = (line, ratio) => ((ratio - line.low) / widest) * 100;
  const height = HIGH * lines.length + 200;
  const svg = draw("svg", { viewBox: `0 0 ${WIDTH} ${height}`, width: WIDTH, height, class: "chart w-nomogram", role: "img", "aria-label": described });
  const text = (at, y, told, anchor = "middle", kind = "tick") => draw("text", { x: at.toFixed(1), y: y.toFixed(1), "text-anchor": anchor, class: kind }, told);
  const rule = (x1, y1, x2, y2, kind = "axis") => draw("path", { d: `M${x1.toFixed(1)} ${y1.toFixed(1)}L${x2.toFixed(1)} ${y2.toFixed(1)}`, class: kind });
  const bottom = HIGH * lines.length + 62;
  svg.append(text(0, 28, "Points", "start", "title"), rule(LEFT, 32, x(100), 32));
  for (let p = 0; p <= 100; p += 10) svg.append(rule(x(p), 32, x(p), bottom, "grid"), rule(x(p), 27, x(p), 32), text(x(p), 20, String(p)));
  svg.append(text(WIDTH, 20, "this row", "end", "name"));
  const points = wholeParts(lines.map((line) => pointsOf(line, line.now)));
  const total = lines.reduce((sum, line) => sum + pointsOf(line, line.now), 0);
  const whole = lines.reduce((sum, line) => sum + pointsOf(line, line.high), 0);
  lines.forEach((line, k) => {
    const y = HIGH * (k + 1) + 30;
    const at = (ratio) => x(pointsOf(line, ratio));
    svg.append(text(0, y + 4, cut(line.name, 32), "start", "title"), rule(at(line.low), y, at(line.high), y));
    const taken = { up: [], down: [] };
    line.marks.forEach((mark, j) => {
      const rising = j === 0 || mark.ratio >= line.marks[j - 1].ratio;
      const told = cut(mark.told, 22);
      const half = 3.1 * told.length + 3;
      const place = at(mark.ratio);
      const [side, other] = rising ? ["down", "up"] : ["up", "down"];
      const spot = [side, other].find((s) => taken[s].every(([l, r]) => place + half < l || place - half > r));
      svg.append(rule(place, y, place, y + ((spot ?? side) === "down" ? 5 : -5)));
      if (!spot) return;
      taken[spot].push([place - half, place + half]);
      svg.append(text(place, spot === "down" ? y + 17 : y - 8, told));
    });
    // A value beyond the end of its line stands at the end, as a ring; one that is not known has points, and no place.
    const beyond = line.now < line.low - 1e-9 || line.now > line.high + 1e-9;
    const spot = at(Math.min(line.high, Math.max(line.low, line.now)));
    if (line.known) svg.append(draw("circle", { cx: spot.toFixed(1), cy: y, r: 5, class: beyond ? "w-beyond" : "w-now" }));
    else svg.append(text(WIDTH, y + 17, "unknown", "end"));
    svg.append(text(WIDTH, y + 4, figure(points[k]), "end"));
  });
  totals(svg, { total, whole, widest, odds, names, bottom, text, rule });
  return svg;
}

// The axis of total points, and below it the probability that goes with each total.
function totals(svg, { total, whole, widest, odds, names, bottom, text, rule }) {
  const base = odds - (total / 100) * widest; // log odds at no points; what is not drawn is as it is in the row
  const totalOf = (logOdds) => ((logOdds - base) / widest) * 100;
  const [least, most] = [Math.min(total, Math.max(0, totalOf(-4.8))), Math.max(total, Math.min(whole, totalOf(4.8)))];
  const place = (points) => LEFT + ((points - least) / (most - least || 1)) * (WIDTH - LEFT - RIGHT);
  const [y, below] = [bottom + 46, bottom + 104];
  svg.append(text(0, y + 4, "Total points", "start", "title"), rule(place(least), y, place(most), y));
  for (const step of roundSteps(least, most, 10)) svg.append(rule(place(step), y, place(step), y - 5), text(place(step), y - 10, figure(step)));
  svg.append(text(0, below + 4, cut(`P(${names[0]})`, 32), "start", "title"), rule(place(least), below, place(most), below));
  const shown = [];
  for (const p of CHANCES) {
    const spot = place(totalOf(Math.log(p / (1 - p))));
    if (spot < LEFT - 1 || spot > WIDTH - RIGHT + 1 || shown.some((s) => Math.abs(s - spot) < 34)) continue;
    shown.push(spot);
    svg.append(rule(spot, below, spot, below + 5), text(spot, below + 18, `${Number((100 * p).toPrecision(3))}\u00a0%`));
  }
  const told = percent(1 / (1 + Math.exp(-odds)));
  svg.append(rule(place(total), y, place(total), below, "ideal"));
  for (const at of [y, below]) svg.append(draw("circle", { cx: place(total).toFixed(1), cy: at, r: 6, class: "w-now" }));
  svg.append(text(WIDTH, y + 4, figure(Math.round(total)), "end"), text(WIDTH, below + 4, told, "end"));
}
