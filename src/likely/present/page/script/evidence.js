// What follows from scores: the ledger of an answer, a decision, what to ask next, and what alone would change it.
// Knows the portable form; no page. The same as likely.explain, decide, ask and counterfactual (tests/page).

import { unknownIn } from "./completion.js";
import { binOf, byClass, codeOn, linearShares } from "./jointly.js";
import { added, logSum, TIE } from "./logs.js";
import { dateLabel, datesInParts, MISSING, numberLabel, UNSEEN } from "./reading.js";
import {
  chancesOf, partsOf, readBy, scoresBy, scoresOf, sumOf,
} from "./scoring.js";

// -- decisions -------------------------------------------------------------------------------------------------

// A loss is {actions, costs[class][action]}. The action of least expected cost, the first of equals; null where the
// row has no probabilities. What every action costs alike decides nothing, so it is taken off first.
export function decided(chances, loss) {
  const expected = loss.actions.map((_, j) => chances.reduce((sum, p, k) => sum + p * loss.costs[k][j], 0));
  if (!chances.some((p) => p > 0)) return { action: null, expected };
  return { action: regretted(chances, loss).best, expected };
}

function regretted(weights, loss) {
  const apart = loss.actions.map((_, j) => 0);
  weights.forEach((w, k) => {
    const top = Math.max(...loss.costs[k]);
    apart.forEach((_, j) => {
      apart[j] += w * (loss.costs[k][j] - top);
    });
  });
  const least = Math.min(...apart);
  const tied = (v) => v <= least * (1 - TIE);
  return { best: apart.findIndex(tied), regrets: apart.map((v) => (tied(v) ? 0 : v - least)) };
}

// -- the ledger ------------------------------------------------------------------------------------------------

const without = (logs, a) => logs.filter((_, k) => k !== a);
export const ratio = (top, bottom) => (top === -Infinity && bottom === -Infinity ? NaN : top - bottom);

// What each piece adds to log P(a) / P(b); b is null: against the rest, one piece after the other.
function steps(pieces, a, b) {
  if (b !== null) return pieces.map((logs) => ratio(logs[a], logs[b]));
  let soFar = pieces[0].map(() => 0);
  let rest = 0;
  return pieces.map((logs) => {
    soFar = soFar.map((v, k) => v + logs[k]);
    const now = logSum(without(soFar, a));
    let out;
    if (rest === -Infinity) out = logs[a] === -Infinity ? -Infinity : 0;
    else out = ratio(logs[a], now > -Infinity ? now - rest : now);
    rest = now;
    return out;
  });
}

export function logOdds(logs, a, b) {
  return ratio(logs[a], b === null ? logSum(without(logs, a)) : logs[b]);
}

// Entries {name, ratio, parts}: name is null for what comes before any value; parts are what an attribute says by itself
// and its shares of what several say together, which add up to it. One entry for all values together where no answer is
// known for a part of the row.
export function ledgerOf(portable, cells, a, b) {
  const form = sumOf(portable);
  const gone = unknownIn(portable, cells).length > 0;
  const isSum = form && !form.whole && !gone;
  const found = isSum ? [form.constant, sharesOf(form, cells, portable)] : sharesOfAnswers(portable, cells);
  if (!found) {
    return { told: "The scores of this model are not a sum over attributes, so its evidence cannot be split up.", entries: [{ name: "all values together", whole: true, ratio: logOdds(scoresOf(portable, cells), a, b) }] };
  }
  const [constant, shares] = found;
  const orders = shares.size <= MOST_SUBSETS ? "all" : `${2 * ROOTS.length} of their`;
  const entries = [{ name: null, logs: constant, parts: [] }];
  for (const { name } of portable.attributes) {
    const own = [...(shares.get(name) ?? new Map())].filter(([, logs]) => logs.some((v) => v !== 0));
    if (own.length) entries.push({ name, logs: own.map(([, logs]) => logs).reduce(added), parts: own.length > 1 ? own : [] });
  }
  const ratios = steps(entries.map(({ logs }) => logs), a, b);
  let soFar = constant.map(() => 0);
  return {
    told: isSum ? "" : `Each line is what the value adds to the answer when it becomes known, the mean over ${orders} orders.`,
    entries: entries.map(({ name, logs, parts }, k) => {
      const before = soFar;
      soFar = added(soFar, logs);
      const each = steps([before, ...parts.map(([, own]) => own)], a, b).slice(1);
      return { name, ratio: ratios[k], parts: parts.map(([label], j) => ({ name: label, ratio: each[j] })) };
    }),
  };
}

// A row of which nothing is known.
function blank(portable) {
  return new Map(portable.attributes.map(({ name, kind }) => [name, kind === "level" ? MISSING : kind === "text" ? null : NaN]));
}

// The Shapley value of each attribute of a sum of trees: a step down a tree is shared by the attributes that parted the
// nodes so far. By partner: an attribute's share of a step is parted equally among the others of the way.
function pathShares(term, cells) {
  const codes = term.axes.map((axis) => codeOn(axis, cells));
  const out = term.axes.map(() => term.axes.map(() => null));
  const add = (j, other, logs) => (out[j][other] = out[j][other] ? added(out[j][other], logs) : logs);
  for (const root of term.roots) {
    let node = root;
    const path = [];
    while (term.axis[node] >= 0 && codes[term.axis[node]] >= 0) {
      const axis = term.axis[node];
      if (!path.includes(axis)) path.push(axis);
      const before = byClass(term.values, node);
      node = term.below[node] + (binOf(term.turns[node], codes[axis]) % 2);
      const each = byClass(term.values, node).map((v, k) => (v - before[k]) / path.length);
      if (path.length === 1) add(axis, axis, each);
      else for (const j of path) for (const other of path) if (other !== j) add(j, other, each.map((v) => v / (path.length - 1)));
    }
  }
  const told = (j, k) => (j === k ? ALONE : `with ${term.axes[k].attribute}`);
  return out.flatMap((partners, j) => partners.map((logs, k) => [term.axes[j].attribute, told(j, k), logs]).filter(([, , logs]) => logs));
}

const ALONE = "by itself";

// [attribute, what it is called, logs] of a term.
function sharesOfTerm(term, cells, portable, size) {
  if (term.form === "PowerTerm") {
    return sharesOfTerm(term.inner, cells, portable, size).map(([name, label, logs]) => [name, label, logs.map((v) => term.weight * v)]);
  }
  if (term.form === "TreesTerm") return pathShares(term, cells);
  if (term.form === "PairTerm") {
    const half = partsOf(term, cells, portable, size)[0][1].map((v) => v / 2);
    const [one, other] = readBy(term);
    return [[one, `with ${other}`, half], [other, `with ${one}`, half]];
  }
  const names = readBy(term);
  if (term.form === "CovarianceTerm" && term.pooled) return linearShares(term, cells).map((logs, k) => [names[k], ALONE, logs]);
  if ((term.form === "TableTerm" || term.form === "CovarianceTerm") && names.length > 1) {
    const nothing = blank(portable);
    const ask = (known) => partsOf(term, new Map([...cells, ...names.filter((_, k) => !known[k]).map((n) => [n, nothing.get(n)])]), portable, size)[0][1];
    const each = shareGame(names.length, ask);
    const whole = ask(names.map(() => true));
    const rest = each.reduce(added).map((v, k) => (Number.isFinite(whole[k]) ? (whole[k] - v) / names.length : 0));
    return names.map((name, k) => [name, `with ${listed(names.filter((n) => n !== name))}`, added(each[k], rest)]);
  }
  return partsOf(term, cells, portable, size).map(([name, logs]) => [name, ALONE, logs]);
}

const listed = (names) => (names.length > 3 ? `${names.slice(0, 2).join(", ")} and ${names.length - 2} others` : names.join(", "));

// What each attribute says by itself, and its shares of what several say: name to label to logs.
function sharesOf(form, cells, portable) {
  const out = new Map();
  for (const term of form.terms) {
    for (const [name, label, logs] of sharesOfTerm(term, cells, portable, form.constant.length)) {
      if (!out.has(name)) out.set(name, new Map());
      out.get(name).set(label, out.get(name).has(label) ? added(out.get(name).get(label), logs) : logs);
    }
  }
  return out;
}

// What an attribute says of a row, part by part: label to logs. Nothing where the score is no sum.
export function partsAt(portable, cells, name) {
  const form = sumOf(portable);
  const terms = form ? form.terms.filter((term) => readBy(term).includes(name)) : [];
  return sharesOf({ ...form, constant: portable.classes, terms }, cells, portable).get(name) ?? new Map();
}

// What each known value adds to the answer when it becomes known, the mean over all orders of becoming known; null where
// there is no answer while nothing is known, or a class is impossible.
function sharesOfAnswers(portable, cells) {
  if (!portable.proper) return null;
  const nothing = blank(portable);
  const isKnown = ({ name, kind }) => (kind === "level" ? cells.get(name) >= 0 : kind === "text" ? cells.get(name) !== null : Number.isFinite(cells.get(name)));
  const names = portable.attributes.filter(isKnown).map(({ name }) => name);
  const answer = (known) => {
    const logs = scoresOf(portable, new Map([...nothing, ...names.filter((_, k) => known[k]).map((n) => [n, cells.get(n)])]));
    const whole = logSum(logs);
    return logs.map((v) => (whole > -Infinity ? v - whole : v));
  };
  const prior = answer(names.map(() => false));
  if (!prior.every(Number.isFinite)) return null;
  const shares = shareGame(names.length, answer);
  if (!shares.flat().every(Number.isFinite)) return null;
  return [prior, new Map(shares.map((logs, k) => [names[k], new Map([[ALONE, logs]])]))];
}

const MOST_SUBSETS = 7;
const ROOTS = [2, 3, 5, 7];

// The Shapley value of each of so many attributes, as in models/shapes/folding.py: over all subsets, or over some orders.
function shareGame(count, ask) {
  const asked = new Map();
  const said = (known) => {
    const key = known.join();
    if (!asked.has(key)) asked.set(key, ask(known));
    return asked.get(key);
  };
  const out = new Array(count).fill(null);
  const gain = (known, j, weight) => {
    const before = said(known);
    const after = said(known.with(j, true));
    const more = after.map((v, k) => (before[k] === -Infinity ? 0 : weight * (v - before[k])));
    out[j] = out[j] ? added(out[j], more) : more;
  };
  const places = Array.from({ length: count }, (_, j) => j);
  if (count <= MOST_SUBSETS) {
    const choose = (n, k) => (k ? (choose(n - 1, k - 1) * n) / k : 1);
    for (let number = 0; number < 2 ** count; number++) {
      const known = places.map((j) => Boolean((number >> j) & 1));
      const size = known.filter(Boolean).length;
      for (const j of places) if (!known[j]) gain(known, j, 1 / (count * choose(count - 1, size)));
    }
    return out;
  }
  const drawn = ROOTS.map((root) => places.toSorted((i, j) => ((Math.sqrt(root) * (i + 1)) % 1) - ((Math.sqrt(root) * (j + 1)) % 1)));
  const orders = [...drawn, ...drawn.map((order) => order.toReversed())];
  for (const order of orders) {
    let known = places.map(() => false);
    for (const j of order) {
      gain(known, j, 1 / orders.length);
      known = known.with(j, true);
    }
  }
  return out;
}

// -- what to ask next ------------------------------------------------------------------------------------------

const HALF = [
  0.9914553711208126, 0.9491079123427585, 0.8648644233597691, 0.7415311855993945, 0.5860872354676911,
  0.4058451513773972, 0.20778495500789848,
];
const KRONROD = [
  0.022935322010529224, 0.06309209262997856, 0.10479001032225019, 0.14065325971552592, 0.1690047266392679,
  0.19035057806478542, 0.20443294007529889,
];
const GAUSS = [0.1294849661688697, 0.27970539148927664, 0.3818300505051189];
const POINTS = [...HALF.map((v) => -v), 0, ...HALF.toReversed()];
const WEIGHTS = [...KRONROD, 0.20948214108472782, ...KRONROD.toReversed()];
const COARSE = POINTS.map((_, k) => (k % 2 ? [...GAUSS, 0.4179591836734694, ...GAUSS.toReversed()][(k - 1) / 2] : 0));
const AROUND = [0, 0.4, 1, 2, 3, 4.5, 7, 12, 40];
const ACCURACY = 1e-8;
const LOOKED = 30_000;

// The attributes of a row that could be asked for.
export function missingIn(portable, cells) {
  return portable.attributes.filter(({ name, kind }) => {
    const cell = cells.get(name);
    return kind === "level" ? cell === MISSING : kind !== "text" && !Number.isFinite(cell);
  });
}

// How much learning a missing attribute lowers the expected loss.
export function dropBy(attribute, portable, cells, loss, reserve) {
  const evidence = logSum(scoresOf(portable, cells));
  if (evidence === -Infinity) return 0;
  const by = scoresBy(portable, cells, attribute.name);
  const joint = (value) => by(value).map((v) => Math.exp(v - evidence));
  if (attribute.kind === "level") return overLevels(joint, attribute.levels.length, reserve, loss);
  return overNumbers(portable, attribute.name, joint, loss);
}

function overLevels(joint, count, reserve, loss) {
  const values = Array.from({ length: count }, (_, k) => joint(k));
  if (reserve) values.push(joint(UNSEEN));
  return values.length < 2 ? 0 : dropOf(values, loss);
}

// Regrets over all values: the best that one action alone can do.
function dropOf(values, loss) {
  const regret = loss.actions.map(() => 0);
  let mass = 0;
  for (const weights of values) {
    mass += weights.reduce((a, b) => a + b, 0);
    regretted(weights, loss).regrets.forEach((v, j) => {
      regret[j] += v;
    });
  }
  return mass > 0 ? Math.min(...regret) / mass : 0;
}

function termsReading(form, name) {
  const inner = (term) => (term.form === "PowerTerm" ? inner(term.inner) : term);
  return form.terms.filter((term) => readBy(term).includes(name)).map(inner);
}

// Bins that a number is cut into by all terms that read it, or null where it has a density.
function startsOf(portable, name) {
  const form = sumOf(portable);
  const own = form ? termsReading(form, name) : [];
  const axes = [...own.filter((term) => term.form !== "BinTerm"), ...(form ? [] : [portable.score])];
  const cuts = axes.flatMap((term) => (term.axes ?? []).filter((axis) => axis.attribute === name));
  cuts.push(...own.filter((term) => term.form === "BinTerm"));
  if (!cuts.length) return null;
  return [...new Set(cuts.flatMap((cut) => cut.starts))].sort((one, other) => one - other);
}

// Edges between which the density of a number is smooth; none where the model does not use it.
function panelsOf(portable, name) {
  const form = sumOf(portable);
  const edges = [];
  for (const term of form ? termsReading(form, name) : []) {
    let sizes = [];
    if (term.form === "NormalTerm") sizes = term.mean.map((m, k) => [m, term.deviation[k]]);
    if (term.form === "CovarianceTerm") {
      const at = term.attributes.indexOf(name);
      sizes = term.mean.map((m, k) => [m[at], term.deviation[k][at]]);
    }
    if (term.form === "KernelTerm") {
      const step = Math.max(1, Math.floor(term.centres.length / 64));
      edges.push(...term.centres.filter((_, k) => k % step === 0), term.centres.at(-1));
      const ends = [term.centres[0], term.centres.at(-1)];
      sizes = term.width.flatMap((width) => ends.map((centre) => [centre, width]));
    }
    const widest = Math.max(...sizes.map(([, d]) => d));
    for (const [mean, deviation] of sizes) {
      for (const size of new Set([deviation, widest])) {
        for (const far of AROUND) edges.push(mean - size * far, mean + size * far);
      }
    }
  }
  return [...new Set(edges)].filter(Number.isFinite).sort((a, b) => a - b);
}

function overNumbers(portable, name, joint, loss) {
  const starts = startsOf(portable, name);
  if (starts) return starts.length ? dropOf([below(starts[0]), ...starts].map(joint), loss) : 0;
  const edges = panelsOf(portable, name);
  if (edges.length < 2) return 0;
  const best = (x) => regretted(joint(x), loss).best;
  const all = [...edges, ...turnsOf(best, edges)].sort((a, b) => a - b);
  const size = loss.actions.length;
  const integrand = (x) => {
    const weights = joint(x);
    return [...regretted(weights, loss).regrets, weights.reduce((a, b) => a + b, 0)];
  };
  const total = integralOf(integrand, all, size + 1, Math.max(spanOf(loss), Number.MIN_VALUE) * ACCURACY);
  return total[size] > 0 ? Math.min(...total.slice(0, size)) / total[size] : 0;
}

const below = (x) => x - Math.max(Math.abs(x) * 2 ** -52, Number.MIN_VALUE);
const spanOf = (loss) => Math.max(...loss.costs.map((row) => Math.max(...row) - Math.min(...row)));

// Where a choice changes: the first number found on the other side.
function turnsOf(choice, edges) {
  const points = [];
  for (let k = 0; k + 1 < edges.length; k++) {
    const [middle, half] = [(edges[k] + edges[k + 1]) / 2, (edges[k + 1] - edges[k]) / 2];
    points.push(edges[k], ...POINTS.map((p) => middle + half * p));
  }
  points.push(edges.at(-1));
  const found = [];
  let before = choice(points[0]);
  for (let k = 1; k < points.length; k++) {
    const after = choice(points[k]);
    if (after !== before) {
      let [low, high] = [points[k - 1], points[k]];
      for (let n = 0; n < 80; n++) {
        const at = low / 2 + high / 2;
        if (at <= low || at >= high) break;
        if (choice(at) === before) low = at;
        else high = at;
      }
      found.push(high);
    }
    before = after;
  }
  return found;
}

function integralOf(values, edges, size, accuracy) {
  const panel = (low, high) => {
    const [middle, half] = [(low + high) / 2, (high - low) / 2];
    const fine = new Array(size).fill(0);
    const coarse = new Array(size).fill(0);
    POINTS.forEach((p, k) => {
      values(middle + half * p).forEach((v, j) => {
        fine[j] += WEIGHTS[k] * v * half;
        coarse[j] += COARSE[k] * v * half;
      });
    });
    return { low, high, fine, error: Math.max(...fine.map((v, j) => Math.abs(v - coarse[j]))) };
  };
  let panels = edges.slice(1).map((high, k) => panel(edges[k], high));
  for (let looked = 15 * panels.length; looked < LOOKED; ) {
    const error = panels.reduce((sum, p) => sum + p.error, 0);
    if (!(error > accuracy)) break;
    const coarse = panels.filter((p) => p.error > (0.1 * error) / panels.length && p.high > p.low);
    if (!coarse.length) break;
    looked += 30 * coarse.length;
    panels = panels.flatMap((p) => {
      const middle = (p.low + p.high) / 2;
      return coarse.includes(p) && middle > p.low && middle < p.high ? [panel(p.low, middle), panel(middle, p.high)] : [p];
    });
  }
  return panels.reduce((sum, p) => sum.map((v, j) => v + p.fine[j]), new Array(size).fill(0));
}

// -- what alone would change the decision ------------------------------------------------------------------------

// For each known cell the nearest other value with which the decision is another one: {name, after, action, size}.
export function changesOf(portable, cells, loss, about) {
  const now = decided(chancesOf(scoresOf(portable, cells)), loss).action;
  const out = [];
  const dated = datesInParts(portable);
  portable.attributes.forEach((attribute, k) => {
    if (attribute.part || dated.has(attribute.name)) return;
    const cell = cells.get(attribute.name);
    const by = scoresBy(portable, cells, attribute.name);
    const action = (value) => decided(chancesOf(by(value)), loss).action;
    const turns = (value) => action(value) !== now && action(value) !== null;
    if (attribute.kind === "level" && cell !== MISSING) {
      const places = attribute.levels.map((_, j) => j).filter((j) => j !== cell && turns(j));
      if (places.length) {
        const names = places.map((j) => attribute.levels[j]);
        out.push({ name: attribute.name, after: names, value: names[0], action: action(places[0]), size: 1 });
      }
    } else if ((attribute.kind === "number" || attribute.kind === "date") && Number.isFinite(cell)) {
      const found = nearestTurn(cell, about[k], turns, attribute.kind === "date", startsOf(portable, attribute.name));
      if (found !== null) {
        const told = attribute.kind === "date" ? dateLabel(found) : numberLabel(found);
        const size = Math.abs(found - cell) / (about[k].high - about[k].low || 1);
        out.push({ name: attribute.name, after: [told], value: told, action: action(found), size });
      }
    }
  });
  return out.sort((a, b) => a.size - b.size);
}

function nearestTurn(cell, about, turns, isDate, starts) {
  const { low, high } = about;
  const whole = about.whole || isDate;
  const even = Array.from({ length: 129 }, (_, k) => low + ((high - low) * k) / 128);
  const edges = (starts ?? []).flatMap((s) => [s, below(s)]);
  const points = [...even, ...edges].filter((x) => Number.isFinite(x) && x >= low && x <= high && x !== cell);
  const tried = [...new Set(whole ? points.flatMap((x) => [Math.floor(x), Math.ceil(x)]) : points)];
  tried.sort((a, b) => Math.abs(a - cell) - Math.abs(b - cell));
  let best = null;
  for (const side of [-1, 1]) {
    let last = cell;
    for (const x of tried.filter((v) => Math.sign(v - cell) === side)) {
      if (turns(x)) {
        const found = rounded(boundary(last, x, turns, whole), turns, whole, Math.abs(x - cell) / 100);
        if (best === null || Math.abs(found - cell) < Math.abs(best - cell)) best = found;
        break;
      }
      last = x;
    }
  }
  return best;
}

function boundary(miss, hit, turns, whole) {
  for (let n = 0; n < 60; n++) {
    let at = miss / 2 + hit / 2;
    if (whole) at = hit > miss ? Math.floor(at) : Math.ceil(at);
    if (at === miss || at === hit) break;
    if (turns(at)) hit = at;
    else miss = at;
  }
  return hit;
}

function rounded(value, turns, whole, room) {
  if (whole) return value;
  for (let digits = 1; digits < 17; digits++) {
    const near = Number(value.toPrecision(digits));
    const unit = value ? 10 ** (Math.floor(Math.log10(Math.abs(value))) - digits + 1) : 0;
    for (const v of [near, near - unit, near + unit].map((w) => Number(w.toPrecision(digits)))) {
      if (Math.abs(v - value) <= room && turns(v)) return v;
    }
  }
  return value;
}
