// How the cells of one row are read: the same as likely/portable/reading.py, held together by tests/page.
// Knows the portable form and texts of cells; no scores and no page.

export const MISSING = -1;
export const UNSEEN = -2;

const MOST_SECONDS = 1e15;
const LONGEST_TOKEN = 64;
const BLANKS = /^[\t-\r ]+|[\t-\r ]+$/g;
// What Python's str.strip() takes off.
const SPACES = /^[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+|[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+$/g;
const INFINITE = /^([+-]?)(?:inf|infinity)$/i;
const NUMBER = /^[+-]?(?:(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$/;
const DATE = /^([0-9]{4})([-/])([0-9]{2})\2([0-9]{2})(?:[Tt ]([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:[.,]([0-9]+))?)?(?:[Zz]|([+-])([0-9]{2})(?::?([0-9]{2}))?)?)?$/;
const WORD = /[\p{L}\p{N}_]+/gu;

const trimmed = (text) => text.replace(BLANKS, "");

export function cellsOf(portable, row) {
  const out = new Map();
  for (const attribute of portable.attributes) {
    let value = row.has(attribute.name) ? row.get(attribute.name) : null;
    if ((value === null || value === undefined) && attribute.part) value = partOf(attribute, row, portable.missing);
    out.set(attribute.name, cellOf(attribute, value, portable.missing));
  }
  return out;
}

// A part of a date, from the column of the date; null where there is none.
function partOf(attribute, row, missing) {
  const seconds = cellOf({ kind: "date" }, row.has(attribute.part_of) ? row.get(attribute.part_of) : null, missing);
  if (!(Math.abs(seconds) <= MOST_SECONDS)) return null;
  const number = datePart(attribute.part, seconds);
  return attribute.names.length ? attribute.names[number] : number;
}

// The dates of which parts are read: these follow from the date, and none of them changes alone.
export const datesInParts = (portable) => new Set(portable.attributes.filter(({ part }) => part).map((a) => a.part_of));

// The same as date_part of reading.py.
export function datePart(part, seconds) {
  const floor = Math.floor;
  const second = floor(seconds);
  const days = floor(second / 86400);
  if (part === "hour") return floor((second - days * 86400) / 3600);
  if (part === "weekday") return days + 3 - floor((days + 3) / 7) * 7;
  const era = floor((days + 719468) / 146097);
  const ofEra = days + 719468 - era * 146097;
  const year = floor((ofEra - floor(ofEra / 1460) + floor(ofEra / 36524) - floor(ofEra / 146096)) / 365);
  const ofYear = ofEra - year * 365 - floor(year / 4) + floor(year / 100);
  const month = floor((ofYear * 5 + 2) / 153);
  if (part === "day") return ofYear - floor((month * 153 + 2) / 5) + 1;
  const nextYear = floor(month / 10);
  if (part === "month") return month + 2 - nextYear * 12;
  const before = year + era * 400 + nextYear - 1;
  return days + 719163 - before * 365 - floor(before / 4) + floor(before / 100) - floor(before / 400);
}

export function cellOf(attribute, value, missing) {
  if (attribute.kind === "level") return levelOf(attribute, value, missing);
  if (attribute.kind === "text") return textOf(value, missing);
  const dated = attribute.kind === "date" && typeof value === "string";
  const number = dated ? dateOf(value, missing) : numberOf(value, missing);
  const gone = missing.some((token) => Number.isFinite(number) && parsed(trimmed(token)) === number);
  return gone ? NaN : number;
}

function levelOf(attribute, value, missing) {
  const known = attribute.levels;
  let text = null;
  if (attribute.numeric) {
    const number = numberOf(value, missing);
    text = Number.isFinite(number) ? numberLabel(number) : null;
  } else if (typeof value === "boolean") {
    text = String(value);
    text = known.findLast((name) => name.toLowerCase() === text) ?? text;
  } else if (typeof value === "number") {
    text = Number.isFinite(value) ? numberLabel(value) : null;
  } else if (value !== null && value !== undefined) {
    text = String(value);
  }
  const bare = text === null ? "" : text.replace(SPACES, "");
  if (!bare || missing.includes(bare)) return MISSING;
  const place = known.indexOf(text);
  return place < 0 ? UNSEEN : place;
}

function textOf(value, missing) {
  if (value === null || value === undefined) return null;
  const text = String(value);
  if (!text) return null;
  if (new TextEncoder().encode(text).length <= LONGEST_TOKEN) {
    const bare = trimmed(text);
    if (missing.some((token) => trimmed(token) === bare)) return null;
  }
  return text;
}

function numberOf(value, missing) {
  if (typeof value === "number") return value;
  if (typeof value === "boolean") return Number(value);
  const text = value === null || value === undefined ? "" : trimmed(String(value));
  return missing.some((token) => trimmed(token) === text) ? NaN : parsed(text);
}

export function parsed(text) {
  const infinite = INFINITE.exec(text);
  if (infinite) return infinite[1] === "-" ? -Infinity : Infinity;
  return NUMBER.test(text) ? Number(text.replaceAll(",", "")) : NaN;
}

function dateOf(value, missing) {
  const text = trimmed(value);
  return missing.some((token) => trimmed(token) === text) ? NaN : secondsOf(text);
}

// Seconds since 1970 of an ISO date, with a time and a zone or not; NaN where it is none.
export function secondsOf(text) {
  const found = DATE.exec(text);
  if (!found) return NaN;
  const [year, month, day] = [found[1], found[3], found[4]].map(Number);
  const leap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  const longest = [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1];
  if (!longest || day < 1 || day > longest) return NaN;
  const y = month <= 2 ? year - 1 : year;
  const era = Math.floor(y / 400);
  const ofEra = y - 400 * era;
  const ofYear = Math.floor((153 * ((month + 9) % 12) + 2) / 5) + day - 1;
  const days = 146097 * era + 365 * ofEra + Math.floor(ofEra / 4) - Math.floor(ofEra / 100) + ofYear - 719468;
  const [hour, minute, second, zoneHour, zoneMinute] = [5, 6, 7, 10, 11].map((k) => Number(found[k] ?? 0));
  if (hour > 24 || minute > 59 || second > 60 || zoneHour > 24 || zoneMinute > 59) return NaN;
  let seconds = days * 86400 + (3600 * hour + 60 * minute) + second;
  const digits = (found[8] ?? "").slice(0, 9);
  if (digits) seconds += Number(digits) / 10 ** digits.length;
  return seconds + (found[9] === "+" ? -1 : 1) * (3600 * zoneHour + 60 * zoneMinute);
}

// Seconds since 1970 as a file would spell them: the day alone at midnight.
export function dateLabel(seconds) {
  const at = new Date(Math.round(seconds) * 1000);
  if (Number.isNaN(at.getTime()) || at.getUTCFullYear() < 0 || at.getUTCFullYear() > 9999) return String(seconds);
  return at.toISOString().replace("T", " ").replace(/(?: 00:00:00)?\.000Z$/, "");
}

// The one spelling of a number as a level: as Python writes it.
export function numberLabel(value) {
  if (Number.isInteger(value) && Math.abs(value) < 2 ** 64) return String(BigInt(value));
  const [mantissa, power] = Math.abs(value).toExponential().split("e");
  const digits = mantissa.replace(".", "");
  const exponent = Number(power);
  const sign = value < 0 ? "-" : "";
  if (exponent < -4 || exponent >= 16) {
    const shown = digits.length > 1 ? `${digits[0]}.${digits.slice(1)}` : digits;
    return `${sign}${shown}e${exponent < 0 ? "-" : "+"}${String(Math.abs(exponent)).padStart(2, "0")}`;
  }
  if (exponent < 0) return `${sign}0.${"0".repeat(-exponent - 1)}${digits}`;
  const whole = digits.slice(0, exponent + 1).padEnd(exponent + 1, "0");
  return `${sign}${whole}.${digits.slice(exponent + 1) || "0"}`;
}

export function wordsOf(text, how) {
  const words = (text.toLowerCase().match(WORD) ?? []).filter(
    (word) => [...word].length >= how.shortest && !how.stop.includes(word),
  );
  if (how.grams) return words.flatMap((word) => gramsOf([" ", ...word, " "], how.grams[0], how.grams[1]));
  if (!how.pairs) return words;
  return words.flatMap((word, k) => (k ? [word, `${words[k - 1]} ${word}`] : [word]));
}

function gramsOf(letters, low, high) {
  const out = [];
  for (let n = low; n <= high; n++) {
    for (let k = 0; k <= Math.max(letters.length - n, 0); k++) out.push(letters.slice(k, k + n).join(""));
    if (letters.length <= n) break;
  }
  return out;
}
