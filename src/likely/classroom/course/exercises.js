/* Whether an answer is right, as `check` in answers.py says it; tests compare the two in a browser. */
"use strict";
const DIGITS = 3;

const numberOf = text => {
  const read = /^\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)(?:\/(\d+))?\s*(%?)\s*$/i.exec(text.replace("−", "-"));
  return read && !(read[2] && read[3]) ? Number(read[1]) / Number(read[2] || 1) / (read[3] ? 100 : 1) : NaN;
};
const unitOf = (value, digits) => 10 ** (Math.floor(Math.log10(Math.abs(value))) - digits + 1);
const isClose = (given, right, whole) =>
  given === right || (!whole && right !== 0 && Math.abs(given - right) < unitOf(right, DIGITS));

function judge(asked, text) {
  const given = numberOf(text), right = numberOf(asked.answer), whole = /^\d+$/.test(asked.answer);
  if (!Number.isFinite(given)) return [false, "Write a number, such as 0.25, 1/3 or 40 %."];
  if (isClose(given, right, whole)) return [true, `right. It is ${asked.written}.`];
  const mistake = asked.mistakes.find(([value]) => isClose(given, numberOf(value)));
  if (mistake) return [false, `not yet. ${mistake[1]}`];
  const rough = !whole && given !== 0 && right !== 0 && Number(given.toPrecision(DIGITS - 1)) === given;
  return [false, rough && Math.abs(given - right) < unitOf(right, DIGITS - 1)
    ? `not yet. Close, but ${DIGITS} digits are wanted.` : `not yet. Hint: ${asked.hint}`];
}

for (const form of document.querySelectorAll("form.answer"))
  form.addEventListener("submit", event => {
    event.preventDefault();
    const [right, words] = judge(JSON.parse(form.dataset.exercise), form.elements[0].value);
    const said = form.querySelector("output");
    said.textContent = words;
    said.className = right ? "right" : "";
  });
