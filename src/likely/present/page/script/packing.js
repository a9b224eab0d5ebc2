// The model as pages hold it, in few characters (packing.py), as it was: numbers from whole multiples of a unit, trees from
// how they grew, codes from letters. Knows the portable form.

const FIRST = 40;
const codesOf = (letters) => Array.from(letters, (letter) => letter.codePointAt(0) - FIRST);

export function unfolded(form) {
  if (Array.isArray(form)) return form.map(unfolded);
  if (form === null || typeof form !== "object") return form;
  if (form.form === "Multiples") return numbersOf(form);
  const out = Object.fromEntries(Object.entries(form).map(([name, own]) => [name, unfolded(own)]));
  if (form.form === "References") out.rows = btoa(codesOf(form.rows).map((code) => String.fromCharCode(code)).join(""));
  return out.grown === undefined ? out : grown(out);
}

function numbersOf({ unit, steps, codes, width }) {
  let soFar = 0;
  const levels = steps.map((step) => (soFar += step) * unit);
  const flat = codesOf(codes).map((code) => levels[code]);
  return width ? Array.from({ length: flat.length / width }, (_, k) => flat.slice(k * width, (k + 1) * width)) : flat;
}

// Each node is followed by all that is below it; the two nodes below one have places side by side.
function grown({ splits, grown: letters, values, ...term }) {
  const parted = codesOf(letters).map((code) => splits[code]);
  const [roots, axis, below, turns] = [[], ...[0, 1, 2].map(() => new Array(parted.length))];
  const columns = values.map(() => new Array(parted.length));
  let [next, free] = [0, 0];
  const grow = (node) => {
    [axis[node], turns[node]] = parted[next];
    columns.forEach((column, k) => (column[node] = values[k][next]));
    next += 1;
    below[node] = axis[node] < 0 ? 0 : free;
    if (axis[node] < 0) return;
    free += 2;
    grow(below[node]);
    grow(below[node] + 1);
  };
  while (next < parted.length) {
    roots.push(free);
    free += 1;
    grow(free - 1);
  }
  return { ...term, roots, axis, below, turns, values: columns };
}
