// How sure an answer is, by what became of held-out rows: the same as likely/models/shapes/guarantee.py, at one level.

import { cut } from "./elements.js";
import { TIE } from "./logs.js";
import { MISSING } from "./reading.js";

const GAPS = 4;
const MOST_NAMED = 8;

// How much of a row is unknown: 0 nothing that was not often unknown in training, then up to a third, two thirds, more, all.
export function gapOf(portable, cells) {
  const read = portable.attributes.filter(({ kind }) => kind !== "text");
  const isGone = ({ name, kind }) => (kind === "level" ? cells.get(name) === MISSING : !Number.isFinite(cells.get(name)));
  const gone = new Set(read.filter(isGone).map(({ name }) => name));
  const { references } = portable;
  const usual = (pattern) => pattern.every((there, k) => Boolean(there) === gone.has(references.axes[k].attribute));
  if (!gone.size || references?.usual.some(usual)) return 0;
  return gone.size === read.length ? GAPS : Math.ceil((gone.size * (GAPS - 1)) / read.length);
}

// A sentence on the most probable class, and on the set; "" where nothing is known.
export function sureSentence(sure, portable, cells, chances) {
  const own = sure?.gaps[gapOf(portable, cells)];
  if (!own || !chances.some((p) => p > 0)) return "";
  const best = chances.reduce((top, p, k) => (p > chances[top] ? k : top), 0);
  const left = portable.classes.filter((_, k) => k === best || chances[k] >= own.limits[k]).map((name) => cut(name, 30));
  const names = [...left.slice(0, MOST_NAMED), ...(left.length > MOST_NAMED ? [`${left.length - MOST_NAMED} more`] : [])];
  const told = `In the ${sure.level}\u00a0% set: ${names.join(", ")}.`;
  if (!own.steps) return told;
  // Of two classes the second's steps are kept: the first's are their mirror image.
  const mirror = portable.classes.length === 2 && best === 0;
  const steps = own.steps[portable.classes.length === 2 ? 0 : best];
  const chance = mirror ? chances[1] : chances[best];
  const [apart, lows, highs] = steps;
  let at = 0;
  for (let start = apart[0]; at + 1 < apart.length && start + apart[at + 1] <= 1e4 * chance * (1 + TIE); at += 1) start += apart[at + 1];
  const [low, high] = mirror ? [1000 - highs[at], 1000 - lows[at]] : [lows[at], highs[at]];
  const [least, most] = [low, high].map((mille) => (mille % 10 ? (mille / 10).toFixed(1) : String(mille / 10)));
  return `Of held-out rows answered like this, ${least} to ${most}\u00a0% are ${cut(portable.classes[best], 30)}. ${told}`;
}
