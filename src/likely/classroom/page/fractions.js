// Probabilities as quotients: of whole numbers of any length where the table is exact, else of floats.

const gcd = (a, b) => {
  while (b) [a, b] = [b, a % b];
  return a;
};

// A part of a whole as text: reduced, or as it is.
export function quotient(top, bottom, reduce = true) {
  if (typeof top !== "bigint") return decimal(top, bottom);
  if (top === 0n) return "0";
  const by = reduce ? gcd(top, bottom) : 1n;
  return bottom / by === 1n && reduce ? String(top / by) : `${top / by}/${bottom / by}`;
}

// Six digits of a quotient, right however long its parts are.
export function decimal(top, bottom, digits = 6) {
  if (typeof top !== "bigint") return String(Number((top / bottom).toPrecision(digits)));
  if (top === 0n) return "0";
  let shift = 0n;
  const most = 10n ** 17n;
  while (top * 10n ** shift < bottom * most) shift += 8n;
  const scaled = (top * 10n ** shift) / bottom;
  return String(Number(Number(`${scaled}e-${shift}`).toPrecision(digits)));
}
