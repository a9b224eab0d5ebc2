// Words of a text: what each says, where it stands, and without which the decision would be another.
// Knows the portable form; no page. What a word says is its share of the text's term, as in likely.explain.

import { decided, ratio } from "./evidence.js";
import { wordsOf } from "./reading.js";
import { chancesOf, damped, factorOf, knownWords, scoresBy, sumOf } from "./scoring.js";

const TOKEN = /[\p{L}\p{N}_]+/gu;
const MOST_TRIED = 60;
const MOST_LEFT_OUT = 4;

// The terms of a text column, each with what it is multiplied by; several where models are pooled.
function speakersOf(portable, name) {
  const out = [];
  const walk = (term, weight) => {
    if (term.form === "PowerTerm") walk(term.inner, weight * term.weight);
    else if (term.form === "TextTerm" && term.name === name) out.push([term, weight]);
  };
  for (const term of sumOf(portable)?.terms ?? []) walk(term, 1);
  return out;
}

// What the known words of a text say for class a against b, the strongest first: {word, times, ratio} in nats.
export function wordsSaid(portable, name, text, a, b) {
  const out = new Map();
  for (const [term, weight] of speakersOf(portable, name)) {
    const { words } = knownWords(term, text, portable);
    const factor = weight * factorOf(term, words);
    for (const { word, times, place } of words) {
      const own = factor * damped(term.damping, times) * ratio(term.weights[place][a], term.weights[place][b]);
      out.set(word, { word, times, ratio: (out.get(word)?.ratio ?? 0) + own });
    }
  }
  return [...out.values()].sort((one, other) => Math.abs(other.ratio) - Math.abs(one.ratio));
}

// The text in pieces [words, nats]: nats is null between words and for those that the model does not know.
export function piecesOf(portable, name, text, a, b) {
  const how = portable.attributes.find((attribute) => attribute.name === name).words;
  const said = new Map(wordsSaid(portable, name, text, a, b).map(({ word, times, ratio: nats }) => [word, nats / times]));
  const tokens = [...text.matchAll(TOKEN)].map((found) => ({ word: found[0], at: found.index, nats: null }));
  const add = (token, nats) => {
    if (nats !== undefined) token.nats = (token.nats ?? 0) + nats;
  };
  tokens.forEach((token, k) => {
    for (const feature of wordsOf(token.word, how)) add(token, said.get(feature));
    const pair = k && how.pairs ? said.get(`${tokens[k - 1].word} ${token.word}`.toLowerCase()) : undefined;
    if (pair !== undefined) for (const one of [tokens[k - 1], token]) add(one, pair / 2);
  });
  const out = [];
  let end = 0;
  for (const { word, at, nats } of tokens) {
    if (at > end) out.push([text.slice(end, at), null]);
    out.push([word, nats]);
    end = at + word.length;
  }
  if (end < text.length) out.push([text.slice(end), null]);
  return out;
}

const textWithout = (text, words) => text.replace(TOKEN, (word) => (words.has(word.toLowerCase()) ? "" : word)).replace(/ {2,}/g, " ").trim();

// The fewest words, taken out of a text, with which the decision is another: {name, words, value, action}, or null.
// Words are tried one by one; where none is enough, those that matter most are taken out together.
export function wordChange(portable, cells, loss, name) {
  const text = cells.get(name);
  if (!text) return null;
  const by = scoresBy(portable, cells, name);
  const chances = chancesOf(by(text));
  const now = decided(chances, loss).action;
  if (now === null) return null;
  const best = chances.indexOf(Math.max(...chances));
  const words = [...new Set((text.match(TOKEN) ?? []).map((word) => word.toLowerCase()))].slice(0, MOST_TRIED);
  const tried = words.map((word) => ({ word, left: chancesOf(by(textWithout(text, new Set([word])) || null))[best] }));
  tried.sort((one, other) => one.left - other.left);
  for (let count = 1; count <= Math.min(MOST_LEFT_OUT, tried.length); count++) {
    const gone = new Set(tried.slice(0, count).map(({ word }) => word));
    const value = textWithout(text, gone);
    const { action } = decided(chancesOf(by(value || null)), loss);
    if (value && action !== now && action !== null) return { name, words: [...gone], value, action };
  }
  return null;
}
