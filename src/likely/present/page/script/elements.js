// Making elements of the page. Everything from data goes in as text or attribute value, never as HTML.

const SVG = "http://www.w3.org/2000/svg";

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children);
  return element;
}

export const make = (tag, attributes = {}, ...children) =>
  filled(document.createElement(tag), attributes, children);

export const draw = (tag, attributes = {}, ...children) =>
  filled(document.createElementNS(SVG, tag), attributes, children);

// Says of a box, also to a screen reader, whether what is in it can be read.
export function marked(box, wrong) {
  if (wrong) box.setAttribute("aria-invalid", "true");
  else box.removeAttribute("aria-invalid");
}

export const byId = (id) => document.getElementById(id);

// Numbers as people read them.
export function percent(p) {
  if (p > 0 && p < 0.001) return "<\u00a00.1\u00a0%";
  if (p < 1 && p > 0.999) return ">\u00a099.9\u00a0%";
  return `${(100 * p).toFixed(p === 0 || p === 1 ? 0 : 1)}\u00a0%`;
}

export function bits(nats) {
  if (Number.isNaN(nats)) return "–";
  if (nats === Infinity) return "+∞";
  if (nats === -Infinity) return "−∞";
  const value = (nats / Math.LN2).toFixed(2);
  return value.startsWith("-") && Number(value) !== 0 ? `−${value.slice(1)}` : `+${value.replace("-", "")}`;
}

// Lines of evidence as they are printed, so that they add up to what is printed of all: those cut most are rounded the
// other way (largest remainders).
export function addedUp(nats, total) {
  const hundredths = (value) => (100 * value) / Math.LN2;
  const values = nats.map(hundredths);
  const sum = (some) => some.reduce((one, other) => one + other, 0);
  if (![...values, total].every(Number.isFinite) || Math.abs(sum(values) - hundredths(total)) > 1e-3) return nats.map(bits);
  const steps = values.map(Math.round);
  const missing = Math.round(hundredths(total)) - sum(steps);
  const up = Math.sign(missing);
  const order = values.map((_, k) => k).sort((a, b) => up * (steps[a] - values[a] - steps[b] + values[b]));
  for (const k of order.slice(0, Math.abs(missing))) steps[k] += up;
  return steps.map((step) => bits((step / 100) * Math.LN2));
}

export function figure(value) {
  if (value !== 0 && Math.abs(value) < 1e-4) return value < 0 ? "> −0.0001" : "< 0.0001";
  return String(Number(value.toPrecision(4))).replace("-", "−");
}

export const cut = (text, most = 40) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

export const SLICE = 30; // milliseconds that the page may be kept from answering
