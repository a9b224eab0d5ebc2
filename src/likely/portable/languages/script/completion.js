// Rows of which some cells are unknown: the same as likely/portable/completion.py.

import { codeOn } from "./jointly.js";
import { logsAdded, logSum } from "./logs.js";
import { MISSING } from "./reading.js";

const decoded = new WeakMap();
const limits = new WeakMap(); // how far the most isolated reference is from all others, by what is known of a row

// The axes whose cells are to be averaged over; none where many rows of training were like that, or cells are known.
export function unknownIn(portable, cells) {
  const references = portable.references;
  if (!references) return [];
  const gone = [];
  references.axes.forEach((axis, k) => {
    const cell = cells.get(axis.attribute);
    if (axis.codes === null ? !Number.isFinite(cell) : cell === MISSING) gone.push(k);
  });
  const same = (pattern) => pattern.every((there, k) => Boolean(there) === gone.includes(k));
  if (!gone.length || references.usual.some(same)) return [];
  const all = references.axes.map((_, k) => k).filter((k) => gone.includes(k) || codeOn(references.axes[k], cells) < 0);
  return all.length < references.axes.length ? all : []; // with nothing known a score says the prior by itself
}

// log of the mean of P(class | completed row), and what is said of known values by themselves beyond that.
export function completed(references, cells, gone, score) {
  const rows = rowsOf(references);
  const axes = references.axes.length;
  const known = references.axes.map((axis, k) => [k, gone.includes(k) ? -1 : codeOn(axis, cells)]).filter(([, code]) => code >= 0);
  const shift = references.shift ?? references.shares[0][0].map(() => 0);
  let total = shift.map(() => -Infinity);
  for (const [row, times] of drawn(references, rows, axes, known)) {
    const whole = new Map(cells);
    for (const k of gone) {
      const axis = references.axes[k];
      const code = rows[row * axes + k];
      const nothing = axis.codes === null ? NaN : MISSING;
      whole.set(axis.attribute, code < axis.size ? references.values[k][code] : nothing);
    }
    const logs = score(whole, row).map((v, c) => v - shift[c]);
    const evidence = logSum(logs);
    if (evidence > -Infinity) total = total.map((t, c) => logsAdded(t, Math.log(times) + logs[c] - evidence));
  }
  const more = shift.map((_, c) => known.reduce((sum, [k, code]) => sum + references.shares[k][code][c], 0) / known.length);
  const logs = total.map((t, c) => t - Math.log(references.completions) + more[c]);
  const whole = logSum(logs);
  return logs.map((v, c) => (whole > -Infinity ? v - whole + shift[c] : v));
}

// Whether a row is like no reference: farther from the nearest than any of them is from the others, by what is known.
export function isUnlike(portable, cells) {
  const references = portable.references;
  if (!references) return false;
  const rows = rowsOf(references);
  const axes = references.axes.length;
  const count = rows.length / axes;
  const isGone = (cell, codes) => (codes === null ? !Number.isFinite(cell) : cell === MISSING);
  const codes = references.axes.map((axis) => (isGone(cells.get(axis.attribute), axis.codes) ? -1 : codeOn(axis, cells)));
  const known = codes.map((_, k) => k).filter((k) => codes[k] >= 0);
  if (known.length < 2 || count < 2) return false;
  const nearest = (codeAt, own) => {
    let least = Infinity;
    for (let row = 0; row < count; row++) {
      let cost = row === own ? Infinity : 0;
      for (let j = 0; j < known.length && cost < least; j++) {
        const k = known[j];
        const d = (references.places[k][codeAt(k)] - references.places[k][rows[row * axes + k]]) / references.width;
        cost += references.relevance[k] * Math.min(0.5 * d * d, references.far[k][codeAt(k)]);
      }
      if (cost < least) least = cost;
    }
    return least;
  };
  if (!limits.has(references)) limits.set(references, new Map());
  const found = limits.get(references);
  const pattern = known.join();
  if (!found.has(pattern)) {
    let farthest = 0;
    for (let row = 0; row < count; row++) farthest = Math.max(farthest, nearest((k) => rows[row * axes + k], row));
    found.set(pattern, farthest);
  }
  return nearest((k) => codes[k], -1) > found.get(pattern);
}

// The codes of all references, one after the other.
function rowsOf(references) {
  if (!decoded.has(references)) decoded.set(references, Uint8Array.from(atob(references.rows), (c) => c.charCodeAt(0)));
  return decoded.get(references);
}

// References drawn evenly from all, each counting by how much it is like the row: how often each is drawn.
function drawn(references, rows, axes, known) {
  const count = rows.length / axes;
  const costs = new Float64Array(count);
  for (const [k, code] of known) {
    const [places, far] = [references.places[k], references.far[k][code]];
    for (let row = 0; row < count; row++) {
      const d = (places[code] - places[rows[row * axes + k]]) / references.width;
      costs[row] += references.relevance[k] * Math.min(0.5 * d * d, far);
    }
  }
  const least = costs.reduce((a, b) => Math.min(a, b), Infinity);
  const weightsAt = (step) => costs.map((cost, row) => Math.floor(Math.exp((least - cost) * 2 ** (-0.5 * step)) * (references.unit * references.weights[row])));
  const sum = (values) => values.reduce((a, b) => a + b, 0);
  let [low, high] = [-1, references.steps];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    const weights = weightsAt(middle);
    if (sum(weights) ** 2 >= references.least * sum(weights.map((w) => w * w))) high = middle;
    else low = middle;
  }
  const weights = weightsAt(high);
  const total = sum(weights);
  const out = new Map();
  let row = 0;
  let soFar = weights[0];
  for (let k = 0; k < references.completions; k++) {
    while (soFar * 2 * references.completions <= total * (2 * k + 1) && row + 1 < count) {
      row += 1;
      soFar += weights[row];
    }
    out.set(row, (out.get(row) ?? 0) + 1);
  }
  return out;
}
