// How a row is scored: the same as likely/portable/scoring.py, held together by tests/page.
// Scores are natural logs, one for each class; minus infinity is kept.

import { completed, unknownIn } from "./completion.js";
import { binOf, covariance, oneDependence, pair, table, tree, trees } from "./jointly.js";
import { added, largest, log, logsAdded, logSum, TIE } from "./logs.js";
import { MISSING, wordsOf } from "./reading.js";

const TEXTS = new Set(["form", "name", "attribute", "attributes", "words", "damping"]);
const places = new WeakMap();

// The portable form as JSON has it: "-inf" and the like become numbers, where numbers belong.
export function revived(portable) {
  const walk = (value) => {
    if (value === "-inf") return -Infinity;
    if (value === "inf") return Infinity;
    if (value === "nan") return NaN;
    if (Array.isArray(value)) return value.map(walk);
    if (value === null || typeof value !== "object") return value;
    return Object.fromEntries(Object.entries(value).map(([key, v]) => [key, TEXTS.has(key) ? v : walk(v)]));
  };
  return { ...portable, score: walk(portable.score), references: walk(portable.references ?? null) };
}

// What rows of a class look like, where scores are raised to powers: the terms as they were before, and the prior.
export function untempered(portable, prior) {
  if (!prior) return portable;
  const constant = revived({ score: prior }).score;
  const terms = portable.score.terms.map((term) => (term.form === "PowerTerm" ? term.inner : term));
  return { ...portable, generative: true, score: { ...portable.score, constant, terms } };
}

// exp of scores over their sum; all 0 where every score is minus infinity. Ties with the best are exact.
export function chancesOf(logs) {
  const top = largest(logs);
  if (top === -Infinity) return logs.map(() => 0);
  const each = logs.map((v) => (top - v <= TIE ? 1 : Math.exp(v - top)));
  const total = each.reduce((a, b) => a + b, 0);
  return each.map((v) => v / total);
}

export function scoresOf(portable, cells) {
  const gone = unknownIn(portable, cells);
  const known = (whole) => score(portable.score, whole, portable);
  return gone.length ? completed(portable.references, cells, gone, known) : known(cells);
}

function score(form, cells, portable) {
  switch (form.form) {
    case "Sum":
      return summed(form, cells, portable);
    case "Normalised": {
      const inside = score(form.inner, cells, portable);
      const whole = logSum(inside);
      return inside.map((v) => v - whole);
    }
    case "Shifted":
      return added(score(form.inner, cells, portable), form.by);
    case "Mixture":
      return mixture(form, cells, portable);
    case "Clipped":
      return clipped(summed(form.outputs, cells, portable));
    case "Duels":
      return voted(form, summed(form.outputs, cells, portable));
    case "OneDependence":
      return oneDependence(form, cells);
    default:
      throw new Error(`unknown form of score: ${form.form}`);
  }
}

function summed(form, cells, portable) {
  let out = form.constant;
  for (const term of form.terms) {
    for (const [, own] of partsOf(term, cells, portable, out.length)) out = added(out, own);
  }
  return out;
}

// The sum that a score is, but for what is the same for all classes; null where it is none.
export function sumOf(portable) {
  let form = portable.score;
  let by = null;
  while (form.form === "Normalised" || form.form === "Shifted") {
    if (form.form === "Shifted") by = by ? added(by, form.by) : form.by;
    form = form.inner;
  }
  if (form.form !== "Sum") return null;
  return by ? { ...form, constant: added(form.constant, by) } : form;
}

// The attributes that a term reads.
export function readBy(term) {
  if (term.form === "PowerTerm") return readBy(term.inner);
  if (term.form === "CurveTerm") return term.units.map((unit) => unit.attribute);
  if (term.form === "CovarianceTerm") return term.attributes;
  if (term.form === "PresenceTerm") return [term.attribute];
  return term.axes ? term.axes.map((axis) => axis.attribute) : [term.name];
}

// The scores of a row as one cell changes: what does not depend on the cell is added up once.
export function scoresBy(portable, cells, name) {
  const form = sumOf(portable);
  const others = new Map(cells);
  const whole = (cell) => scoresOf(portable, others.set(name, cell));
  if (!form || portable.score.form !== "Sum") return whole;
  const known = (cell) => cell !== MISSING && !Number.isNaN(cell);
  const gone = unknownIn(portable, new Map(cells).set(name, 0)); // 0 is a cell that is known, of whatever kind
  if (!gone.length) {
    const by = summedBy(portable, form, cells, name);
    return (cell) => (portable.references && !known(cell) ? whole(cell) : by(cell));
  }
  const completions = new Map();
  return (cell) => {
    if (!known(cell)) return whole(cell);
    return completed(portable.references, others.set(name, cell), gone, (filled, row) => {
      if (!completions.has(row)) completions.set(row, summedBy(portable, form, filled, name));
      return completions.get(row)(cell);
    });
  };
}

function summedBy(portable, form, cells, name) {
  const own = form.terms.filter((term) => readBy(term).includes(name));
  const fixed = summed({ ...form, terms: form.terms.filter((term) => !own.includes(term)) }, cells, portable);
  const [rest, others] = [{ constant: fixed, terms: own }, new Map(cells)];
  return (cell) => summed(rest, others.set(name, cell), portable);
}

export function partsOf(term, cells, portable, size) {
  switch (term.form) {
    case "TreeTerm":
      return tree(term, cells, size);
    case "PowerTerm":
      return partsOf(term.inner, cells, portable, size).map(([name, own]) => [name, own.map((v) => term.weight * v)]);
    case "TableTerm":
      return [[term.name, table(term, cells)]];
    case "CovarianceTerm":
      return [[term.name, covariance(term, cells)]];
    case "PairTerm":
      return [[term.name, pair(term, cells, size)]];
    case "TreesTerm":
      return [[term.name, trees(term, cells, size)]];
    case "PresenceTerm":
      return [[term.name, Number.isFinite(cells.get(term.attribute)) ? term.known : term.missing]];
    case "LevelTerm": {
      const code = cells.get(term.name);
      return [[term.name, code >= 0 ? term.scores[code] : code === MISSING ? term.missing : term.unseen]];
    }
    case "TextTerm":
      return [[term.name, textScores(term, cells.get(term.name), portable)]];
    default: {
      const x = cells.get(term.name);
      return [[term.name, Number.isFinite(x) ? numberScores(term, x, cells) : term.missing]];
    }
  }
}

function numberScores(term, x, cells) {
  switch (term.form) {
    case "BinTerm":
      return term.scores[binOf(term.starts, x)];
    case "NormalTerm":
      return term.peak.map((peak, k) => {
        const d = Math.min(Math.abs(x - term.mean[k]), term.farthest[k]) * term.rate[k];
        return peak - d * d;
      });
    case "KernelTerm":
      return term.peak.map((peak, k) => Math.max(peak + kernels(term, k, x), term.floor?.[k] ?? -Infinity));
    case "SlopeTerm": {
      const z = standard(term.unit, x);
      return term.weights.map((w, k) => term.known[k] + z * w);
    }
    case "CurveTerm": {
      const each = term.units.map((unit) => standard(unit, cells.get(unit.attribute)));
      let slopes = term.weights.at(-1);
      each.forEach((z, j) => {
        slopes = slopes.map((s, k) => s + z * term.weights[j][k]);
      });
      return slopes.map((s, k) => term.known[k] + each[term.at] * s);
    }
    default:
      throw new Error(`unknown form of term: ${term.form}`);
  }
}

function standard(unit, x) {
  if (!Number.isFinite(x)) return 0;
  let scaled = x;
  let power = -unit.shift;
  for (; power > 1000; power -= 1000) scaled *= 2 ** 1000;
  for (; power < -1000; power += 1000) scaled *= 2 ** -1000;
  scaled *= 2 ** power;
  const z = (scaled - unit.center - unit.rest) / unit.spread;
  return Math.max(-unit.farthest, Math.min(unit.farthest, z));
}

function kernels(term, k, x) {
  const weights = term.weights[k];
  const away = term.centres.map((c) => Math.min(Math.abs(x - c), term.farthest[k]) * term.rate[k]);
  const b = away.reduce((least, a, j) => (weights[j] > 0 ? Math.min(least, a) : least), Infinity);
  let total = 0;
  away.forEach((a, j) => {
    if (weights[j] > 0) total += weights[j] * Math.exp(-((a - b) * (a + b)));
  });
  return log(total) - b * b;
}

// The known words of a text with their place in the term and how often it has them.
export function knownWords(term, text, portable) {
  if (!places.has(term)) places.set(term, new Map(term.words.map((word, k) => [word, k])));
  const index = places.get(term);
  const times = new Map();
  let unknown = 0;
  for (const word of wordsOf(text, portable.attributes.find((a) => a.name === term.name).words)) {
    if (index.has(word)) times.set(word, (times.get(word) ?? 0) + 1);
    else unknown += 1;
  }
  return { unknown, words: [...times].map(([word, t]) => ({ word, times: t, place: index.get(word) })) };
}

export function damped(damping, times) {
  if (damping === "log") return 1 + Math.log(times);
  if (damping === "root") return Math.sqrt(times);
  return damping === "binary" ? 1 : times;
}

export function factorOf(term, words) {
  const known = words.reduce((sum, w) => sum + w.times, 0);
  return term.length ? term.scale / Math.sqrt(Math.max(known, 1)) : term.scale;
}

function textScores(term, text, portable) {
  if (text === null) return term.base.map(() => 0);
  const { words } = knownWords(term, text, portable);
  let out = term.base.map(() => 0);
  for (const { times, place } of words) {
    const f = damped(term.damping, times);
    out = out.map((v, k) => v + f * term.weights[place][k]);
  }
  const factor = factorOf(term, words);
  return out.map((v, k) => (v + term.base[k]) * factor);
}

function mixture(form, cells, portable) {
  let out = new Array(form.size).fill(-Infinity);
  for (const member of form.members) {
    const inside = score(member.inner, cells, portable);
    const evidence = logSum(inside);
    let own = new Array(form.size).fill(-Infinity);
    member.classes.forEach((k, j) => {
      if (k >= 0 && evidence > -Infinity) own[k] = inside[j] - evidence;
    });
    if (member.temperature !== 1) {
      const warm = own.map((v) => v * member.temperature);
      const whole = logSum(warm);
      own = warm.map((v) => (whole > -Infinity ? v - whole : v));
    }
    out = out.map((v, k) => logsAdded(v, Math.log(member.weight) + own[k]));
  }
  return out;
}

function clipped(outputs) {
  const positive = outputs.map((v) => Math.max(v, 0));
  const most = largest(positive);
  if (most <= 0) {
    const best = outputs.indexOf(largest(outputs));
    return outputs.map((_, k) => (k === best ? 0 : -Infinity));
  }
  const shares = positive.map((v) => v / most);
  const total = shares.reduce((a, b) => a + b, 0);
  return shares.map((v) => log(v / total));
}

function voted(form, outputs) {
  const votes = new Array(form.size).fill(0);
  form.pairs.forEach(([a, b], k) => {
    votes[outputs[k] >= 0 ? a : b] += 1;
  });
  if (form.votes && form.size > 1) return votes.map((v) => log(v / form.pairs.length));
  return votes.map((v) => (v === form.size - 1 ? 0 : -Infinity));
}
