// What attributes say together: the same as likely/portable/joint_terms.py.

import { added, log, logsAdded, logSum } from "./logs.js";
import { MISSING } from "./reading.js";

// The number of starts that are at most x.
export function binOf(starts, x) {
  let low = 0;
  let high = starts.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (starts[middle] <= x) low = middle + 1;
    else high = middle;
  }
  return low;
}

export function codeOn(axis, cells) {
  const cell = cells.get(axis.attribute);
  if (axis.codes === null) return Number.isFinite(cell) ? binOf(axis.starts, cell) : axis.missing;
  if (cell >= 0) return axis.codes[cell];
  return cell === MISSING ? axis.missing : axis.unseen;
}

export function table(term, cells) {
  const codes = term.axes.map((axis) => codeOn(axis, cells));
  const there = codes.map((_, k) => k).filter((k) => codes[k] >= 0);
  if (!there.length) return term.log_total.map(() => 0);
  let top = term.log_total.map(() => 0);
  term.cells.forEach((cell, j) => {
    if (there.every((k) => cell[k] === codes[k])) top = added(top, term.counts[j]);
  });
  const sizes = term.axes.filter((_, k) => codes[k] < 0).map((axis) => axis.size);
  const extra = sizes.reduce((a, b) => a * b, term.extra);
  if (extra === Infinity) {
    const beyond = term.log_extra + sizes.reduce((a, b) => a + Math.log(b), 0);
    return term.log_total.map((total) => beyond - total);
  }
  return top.map((n, k) => log(n + extra) - term.log_total[k]);
}

export function covariance(term, cells) {
  const x = term.attributes.map((name) => cells.get(name));
  const there = x.map((_, k) => k).filter((k) => Number.isFinite(x[k]));
  if (!there.length) return term.mean.map(() => 0);
  const most = term.most ?? Infinity; // `most` and `ends` are there in pools only
  if (term.ends) there.forEach((k) => (x[k] = Math.max(Math.min(x[k], term.ends[1][k]), term.ends[0][k])));
  const each = term.mean.map((mean, c) => {
    const farthest = term.farthest[c];
    const far = there.map(
      (k) => Math.max(Math.min(x[k] - mean[k], farthest[k]), -farthest[k]) * (1 / term.deviation[c][k]),
    );
    let apart;
    let peak = term.peak[c];
    if (there.length === x.length) {
      apart = far.map(() => 0);
      far.forEach((d, j) => {
        apart = apart.map((v, m) => v + d * term.whitening[c][j][m]);
      });
    } else {
      const part = there.map((i) => there.map((j) => term.correlation[c][i][j]));
      const found = solved(part, far, term.least[c]);
      apart = found.out;
      const volume = 0.5 * there.length * Math.log(2 * Math.PI) + found.logRoot;
      peak = -(volume + there.reduce((sum, k) => sum + Math.log(term.deviation[c][k]), 0));
    }
    const total = apart.reduce((sum, v) => sum + v * v, 0);
    return [peak, peak - 0.5 * total];
  });
  const least = Math.min(...each.map(([peak]) => peak)) - most;
  return each.map(([, value]) => Math.max(value, least));
}

function solved(matrix, right, least) {
  const low = matrix.map((row) => row.map(() => 0));
  const out = right.map(() => 0);
  let logRoot = 0;
  const dot = (one, other, upto) => {
    let sum = 0;
    for (let k = 0; k < upto; k++) sum += one[k] * other[k];
    return sum;
  };
  for (let i = 0; i < matrix.length; i++) {
    for (let j = 0; j < i; j++) low[i][j] = (matrix[i][j] - dot(low[i], low[j], j)) / low[j][j];
    low[i][i] = Math.sqrt(Math.max(matrix[i][i] - dot(low[i], low[i], i), least));
    out[i] = (right[i] - dot(low[i], out, i)) / low[i][i];
    logRoot += Math.log(low[i][i]);
  }
  return { out, logRoot, low };
}

// Of a density whose classes share their covariance, what tells classes apart as a sum over attributes.
export function linearShares(term, cells) {
  const classes = term.mean.map((_, c) => c);
  const x = term.attributes.map((name) => cells.get(name));
  const there = x.map((_, k) => k).filter((k) => Number.isFinite(x[k]));
  const out = x.map(() => classes.map(() => 0));
  if (term.ends) there.forEach((k) => (x[k] = Math.max(Math.min(x[k], term.ends[1][k]), term.ends[0][k])));
  const middle = x.map((_, k) => classes.reduce((sum, c) => sum + term.mean[c][k], 0) / classes.length);
  const unit = term.deviation[0];
  const part = there.map((i) => there.map((j) => term.correlation[0][i][j]));
  for (const c of classes) {
    const apart = there.map((k) => (term.mean[c][k] - middle[k]) / unit[k]);
    const { out: right, low } = solved(part, apart, term.least[0]);
    const weights = right.map(() => 0);
    for (let i = right.length - 1; i >= 0; i--) {
      let sum = right[i];
      for (let j = i + 1; j < right.length; j++) sum -= low[j][i] * weights[j];
      weights[i] = sum / low[i][i];
    }
    there.forEach((k, i) => (out[k][c] = weights[i] * ((x[k] - middle[k]) / unit[k] - apart[i] / 2)));
  }
  return out;
}

export function tree(term, cells, size) {
  const codes = term.axes.map((axis) => codeOn(axis, cells));
  const nothing = new Array(size).fill(0);
  const out = codes.map(() => nothing);
  const below = codes.map(() => null);
  for (const v of [...term.order].reverse()) {
    const parent = term.parents[v];
    if (codes[v] < 0 && below[v] === null) continue; // its codes sum to one
    const hidden = parent >= 0 && codes[parent] < 0;
    const width = parent >= 0 ? term.axes[parent].size : 1;
    const first = hidden ? 0 : parent >= 0 ? codes[parent] : 0;
    for (let b = first; b < (hidden ? width : first + 1); b++) {
      let value;
      if (codes[v] >= 0) value = term.tables[v][codes[v]][b];
      else {
        const each = below[v].map((up, a) => added(term.tables[v][a][b], up));
        value = nothing.map((_, k) => logSum(each.map((row) => row[k])));
      }
      if (!hidden) out[v] = value;
      else {
        below[parent] ??= new Array(width).fill(nothing);
        below[parent][b] = added(below[parent][b], value);
      }
    }
  }
  return term.axes.map((axis, v) => [axis.attribute, out[v]]);
}

export function pair(term, cells, size) {
  const [one, other] = term.axes.map((axis) => codeOn(axis, cells));
  if (one < 0 || other < 0) return new Array(size).fill(0);
  return byClass(term.table, one * term.axes[1].size + other);
}

// What a table of each class has at a place; that of the first of two is the negative where it is left out.
export function byClass(columns, place) {
  const found = columns.map((column) => column[place]);
  return found.length === 1 ? [-found[0], found[0]] : found;
}

export function trees(term, cells, size) {
  const codes = term.axes.map((axis) => codeOn(axis, cells));
  let out = new Array(size).fill(0);
  for (const root of term.roots) {
    let node = root;
    while (term.axis[node] >= 0 && codes[term.axis[node]] >= 0) {
      node = term.below[node] + (binOf(term.turns[node], codes[term.axis[node]]) % 2);
    }
    out = added(out, byClass(term.values, node));
  }
  return out;
}

export function oneDependence(form, cells) {
  const there = [];
  let first = 0;
  for (const axis of form.axes) {
    const code = codeOn(axis, cells);
    if (code >= 0) there.push(first + code);
    first += axis.size;
  }
  const parents = there.filter((a) => form.serves[a]);
  if (!parents.length) return there.reduce((out, b) => added(out, form.alone[b]), form.prior);
  let total = form.prior.map(() => -Infinity);
  for (const a of parents) {
    let own = form.joint[a];
    for (const b of there) if (b !== a) own = added(own, form.given[a][b]);
    total = total.map((t, k) => logsAdded(t, own[k]));
  }
  return total.map((v) => v - Math.log(parents.length));
}
