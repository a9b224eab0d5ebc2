// Sums of logs, and of scores that may be minus infinity.

// Scores that are below the best by no more than this are equal to it: what rounding does to a sum of logs is less.
export const TIE = 2 ** -40;
export const log = (value) => (value > 0 ? Math.log(value) : -Infinity);
export const added = (one, other) => one.map((v, k) => v + other[k]);
export const largest = (values) => values.reduce((a, b) => Math.max(a, b), -Infinity);

export function logSum(logs) {
  const top = largest(logs);
  if (top === -Infinity) return top;
  return top + Math.log(logs.reduce((sum, v) => sum + Math.exp(v - top), 0));
}

export function logsAdded(a, b) {
  if (a < b) [a, b] = [b, a];
  return b === -Infinity ? a : a + Math.log1p(Math.exp(b - a));
}
