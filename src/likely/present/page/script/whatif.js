// The what-if of the page: values in, and at once the probabilities, the evidence, the decision and what would change it.

import { isUnlike, unknownIn } from "./completion.js";
import { Controls } from "./controls.js";
import { addedUp, bits, byId, cut, figure, make, marked, percent, SLICE } from "./elements.js";
import { changesOf, decided, dropBy, ledgerOf, logOdds, missingIn } from "./evidence.js";
import { printLetter, saveCard } from "./letter.js";
import { savable } from "./saving.js";
import { multiplesOf } from "./multiples.js";
import { linesOf, nomogram } from "./nomogram.js";
import { unfolded } from "./packing.js";
import { cellsOf, dateLabel, numberLabel, UNSEEN } from "./reading.js";
import { classesDrawn, TwoNumbers } from "./responses.js";
import { chancesOf, revived, scoresOf, untempered } from "./scoring.js";
import { commandOf, hashOf, pythonOf, stateIn } from "./sharing.js";
import { sureSentence } from "./sure.js";
import { piecesOf, wordChange, wordsSaid } from "./texts.js";

const DONT_KNOW = "don't know";
const MOST_BARS = 12;
const MOST_FIXED = 8; // more classes are shown the most probable first
const MOST_PIECES = 7;
const MOST_WORDS = 8;
const MOST_CLASSES = 8;
const LATER = 120;

class WhatIf {
  constructor(told, page) {
    this.portable = revived(told.portable);
    this.portable.colours = told.colours;
    this.describer = untempered(this.portable, told.prior);
    this.about = told.attributes;
    this.told = told;
    this.page = page;
    this.opened = new Set();
    this.state = {
      classes: this.portable.classes,
      values: new Map(this.portable.attributes.filter((a) => !a.part).map((a) => [a.name, null])),
      of: null,
      against: null,
      actions: told.actions,
      costs: told.costs.map((row) => row.slice(0, told.actions.length)),
      abstain: told.abstain,
      changed: false,
    };
    const changed = (name, value) => {
      this.state.values.set(name, value);
      byId("w-start").value = "own";
      this.update();
    };
    this.controls = new Controls(this.describer, this.about, this.state, changed);
    this.map = new TwoNumbers(this.portable, this.about, changed);
    this.startFrom();
    this.sides();
    this.lossTable();
    for (const [id, told_] of [["w-copy-link", "link"], ["w-copy-cli", "cli"], ["w-copy-python", "python"]]) {
      byId(id).addEventListener("click", () => this.copy(told_, byId(id)));
    }
    byId("w-print").addEventListener("click", () => this.print());
    for (const kind of ["svg", "png"]) byId(`w-card-${kind}`).addEventListener("click", () => saveCard(this.card(), kind));
    byId("w-nomogram").addEventListener("toggle", () => this.later());
    byId("w-share").addEventListener("toggle", () => this.share());
    addEventListener("hashchange", () => {
      if (!stateIn(location.hash, this.state)) return;
      byId("w-start").value = "own";
      this.reset();
    });
    const linked = stateIn(location.hash, this.state);
    if (!linked) for (const [name, value] of this.typical(told.first)) this.state.values.set(name, value);
    byId("w-note").textContent = told.note;
    byId("w-note").hidden = !told.note;
    byId("w").hidden = false;
    this.reset(false);
    if (linked) {
      byId("w-start").value = "own";
      byId("w").scrollIntoView();
    }
  }

  get loss() {
    const { actions, costs, abstain } = this.state;
    if (abstain === null) return { actions, costs };
    return { actions: [...actions, DONT_KNOW], costs: costs.map((row) => [...row, abstain]) };
  }

  typical(k) {
    return this.portable.attributes.map((a, j) => [a.name, this.about[j].typical[k]]).filter(([name]) => this.state.values.has(name));
  }

  startFrom() {
    const { classes } = this.portable;
    const pick = make("select", { id: "w-start" }, make("option", { value: "own", hidden: true }, "these values"));
    pick.append(make("option", { value: "" }, "everything unknown"));
    const known = classes.map((_, k) => k).filter((k) => this.typical(k).some(([, value]) => value !== null));
    for (const k of this.told.order.filter((j) => known.includes(j))) pick.append(make("option", { value: k }, `a typical row of ${cut(classes[k], 40)}`));
    let origin = known.includes(this.told.first) ? String(this.told.first) : "";
    const go = () => {
      if (pick.value !== "own") origin = pick.value;
      const values = origin === "" ? [] : this.typical(Number(origin));
      for (const name of this.state.values.keys()) this.state.values.set(name, null);
      for (const [name, value] of values) this.state.values.set(name, value);
      this.reset();
      pick.value = origin;
    };
    pick.addEventListener("change", go);
    const again = make("button", { type: "button", id: "w-again", onclick: go }, "start again");
    pick.value = origin;
    byId("w-from").replaceChildren(make("label", { for: "w-start" }, "Start from "), pick, " ", again);
  }

  // What the curves above the controls show, and which colour is which class.
  key() {
    const { classes, colours } = this.portable;
    const shown = classesDrawn(this.chances);
    const drawn = this.told.order.filter((k) => shown.includes(k));
    const dots = drawn.flatMap((k) => [make("span", { class: `dot ${colours[k]}` }), `P(${cut(classes[k], 30)}) `]);
    const more = classes.length > 8 ? ", for the three most probable classes" : "";
    const curves = this.portable.attributes.some(({ kind }) => kind !== "text");
    byId("w-key").hidden = !curves;
    byId("w-nomogram").hidden = !curves;
    byId("w-key").replaceChildren(...dots, make("span", { class: "w-note" }, `as each value moves, the others as they are${more}; mind the scale beside each curve`));
  }

  // Of two classes evidence always speaks for the second to the right, whatever the row; of more, for the most probable.
  sides() {
    const { classes } = this.portable;
    const two = classes.length === 2;
    const of = make("select", { id: "w-of", onchange: () => this.side("of", of.value) });
    of.append(make("option", { value: "" }, two ? cut(classes[1]) : "the most probable class"));
    const against = make("select", { id: "w-against", onchange: () => this.side("against", against.value) });
    against.append(make("option", { value: "" }, two ? cut(classes[0]) : "the next one"));
    if (!two) against.append(make("option", { value: "rest" }, "all others"));
    for (const k of this.told.order) {
      if (two && k === 1) continue;
      of.append(make("option", { value: `.${classes[k]}` }, cut(classes[k])));
    }
    for (const k of this.told.order) {
      if (two && k === 0) continue;
      against.append(make("option", { value: `.${classes[k]}` }, cut(classes[k])));
    }
    byId("w-sides").replaceChildren(
      make("label", { for: "w-of" }, "Evidence for "), of, make("label", { for: "w-against" }, " against "), against,
    );
  }

  side(which, value) {
    this.state[which] = value === "" ? null : value.replace(/^\./, "");
    this.update();
  }

  // The two classes that are weighed; the second is null for all others.
  weighed(chances) {
    const { classes } = this.portable;
    const { of, against } = this.state;
    const largest = (some) => some.reduce((best, k) => (chances[k] > chances[best] ? k : best), some[0]);
    const every = classes.map((_, k) => k);
    const usual = classes.length === 2 ? (against === classes[1] ? 0 : 1) : largest(every);
    const a = of === null ? usual : classes.indexOf(of);
    if (against === "rest" && classes.length > 2) return [a, null];
    const b = classes.indexOf(against);
    return [a, b >= 0 && b !== a ? b : largest(every.filter((k) => k !== a))];
  }

  reset(remember = true) {
    const choose = (select, value) => {
      select.value = value;
      if (select.selectedIndex < 0) select.value = "";
    };
    choose(byId("w-of"), this.state.of === null ? "" : `.${this.state.of}`);
    choose(byId("w-against"), this.state.against === null ? "" : this.state.against === "rest" ? "rest" : `.${this.state.against}`);
    this.controls.show();
    this.lossValues();
    this.update(remember);
  }

  update(remember = true) {
    const { portable } = this;
    this.cells = cellsOf(portable, this.state.values);
    this.logs = scoresOf(portable, this.cells);
    this.chances = chancesOf(this.logs);
    this.controls.refresh();
    this.bars();
    this.sure();
    this.decision();
    // Where cells are averaged over, evidence takes many answers: not while a control is moved.
    this.slow = unknownIn(portable, this.cells).length > 0;
    if (portable.classes.length > 1 && !this.slow) this.ledger();
    byId("w").style.setProperty("--w-top", `${document.querySelector(".w-top").offsetHeight}px`); // reasons stay below it
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => this.later(), LATER);
    if (remember) history.replaceState(null, "", `#${hashOf(this.state)}`);
    this.share();
  }

  bars() {
    const order = this.chances.map((_, k) => k).sort((a, b) => this.chances[b] - this.chances[a] || a - b);
    const shown = order.slice(0, MOST_BARS).sort((a, b) => (order.length > MOST_FIXED ? 0 : a - b));
    const rows = shown.map((k) => {
      const bar = make("span", { class: `w-bar ${this.portable.colours[k]}` });
      bar.style.width = `${100 * this.chances[k]}%`;
      return make("tr", { "data-class": this.portable.classes[k], "data-p": this.chances[k] },
        make("th", { scope: "row" }, this.portable.classes[k]),
        make("td", { class: "w-track" }, bar),
        make("td", { class: "num" }, percent(this.chances[k])));
    });
    if (order.length > shown.length) {
      const rest = order.slice(MOST_BARS).reduce((sum, k) => sum + this.chances[k], 0);
      rows.push(make("tr", {}, make("th", { scope: "row" }, `${order.length - MOST_BARS} more`), make("td", {}), make("td", { class: "num" }, percent(rest))));
    }
    byId("w-bars").replaceChildren(...rows);
    const undefinedRow = !this.chances.some((p) => p > 0);
    byId("w-impossible").hidden = !undefinedRow;
    if (!this.portable.proper) byId("w-impossible").textContent = "Don’t know: no class wins all its duels.";
    const best = order[0];
    const tied = order.filter((k) => this.chances[k] === this.chances[best]).map((k) => this.portable.classes[k]);
    byId("w-said").textContent = undefinedRow
      ? byId("w-impossible").textContent
      : `${this.portable.classes[best]}: ${percent(this.chances[best])}`;
    byId("w-tie").hidden = undefinedRow || tied.length < 2;
    byId("w-tie").textContent = `${tied.slice(0, -1).join(", ")} and ${tied.at(-1)} are equally probable; ${tied[0]} comes first.`;
  }

  sure() {
    const told = sureSentence(this.told.sure, this.portable, this.cells, this.chances);
    byId("w-sure").textContent = told;
    byId("w-sure").hidden = !told;
  }

  decision() {
    const { loss } = this;
    const { action, expected } = decided(this.chances, loss);
    const told = action === null ? "nothing can be decided" : loss.actions[action];
    byId("w-action").textContent = told;
    byId("w-action").dataset.expected = action === null ? "" : expected[action];
    byId("w-expected").textContent = action === null ? "" : ` (expected cost ${figure(expected[action])})`;
  }

  ledger() {
    const [a, b] = this.weighed(this.chances);
    const { entries, told } = ledgerOf(this.portable, this.cells, a, b);
    const loud = entries.filter((e) => e.name === null || e.ratio !== 0);
    const size = (e) => (Number.isNaN(e.ratio) ? Infinity : Math.abs(e.ratio));
    const first = loud.filter((e) => e.name === null);
    const rest = loud.filter((e) => e.name !== null).sort((one, other) => size(other) - size(one));
    this.ranked = rest;
    const widest = Math.max(1, ...loud.map(size).filter(Number.isFinite));
    const { classes } = this.portable;
    const { colours } = this.portable;
    const row = (e, depth = 0) => {
      const bar = make("span", { class: `w-piece ${e.ratio > 0 ? `w-for ${colours[a]}` : `w-against${b === null ? "" : ` ${colours[b]}`}`}` });
      bar.style.width = `${50 * Math.min(1, size(e) / widest)}%`;
      const name = e.name === null ? "before any value" : depth || e.whole ? e.name : this.valued(e.name);
      const head = e.opens === undefined ? [cut(name, 60)] : [this.opener(e.opens, cut(name, 60))];
      return make("tr", { class: depth ? "w-word" : "", "data-name": e.name ?? "", "data-nats": e.ratio },
        make("th", { scope: "row", title: name }, ...head), make("td", { class: "w-scale" }, bar), make("td", { class: "num" }, e.told ?? bits(e.ratio)));
    };
    this.drawn = [];
    const other_ = b ?? this.chances.map((_, k) => k).filter((k) => k !== a).reduce((x, y) => (this.chances[y] > this.chances[x] ? y : x));
    const inside = (e) => {
      const open = this.opened.has(`.${e.name}`) ? [...e.parts].sort((one, other) => size(other) - size(one)) : null;
      const rows = [...(open ?? []), ...this.words(e.name, a, b).slice(0, MOST_WORDS)].map((part) => row(part, 1));
      if (!open) return rows;
      const box = make("div", { class: "w-multiples" });
      this.drawn.push(() => box.replaceChildren(...multiplesOf(this.portable, this.cells, this.about, e.name, open, a, other_)));
      return [make("tr", { class: "w-word" }, make("td", { colspan: 3 }, box)), ...rows];
    };
    const opens = (e) => this.portable.attributes.some(({ name, kind }) => name === e.name && kind !== "text");
    const lines = (some) => some.flatMap((e) => [row(opens(e) ? { ...e, opens: `.${e.name}` } : e), ...inside(e)]);
    const kept = rest.length > MOST_PIECES + 1 ? MOST_PIECES : rest.length;
    const left = rest.slice(kept).reduce((sum, e) => sum + e.ratio, 0);
    const others = rest.length > kept ? [{ name: `${rest.length - kept} others together`, ratio: left, whole: true, opens: "others" }] : [];
    const together = logOdds(this.logs, a, b);
    const all = [...first, ...rest.slice(0, kept), ...others];
    const printed = addedUp(all.map((e) => e.ratio), together);
    const listed = all.map((e, k) => ({ ...e, told: printed[k] }));
    const rows = lines(others.length ? listed.slice(0, -1) : listed);
    if (others.length) {
      rows.push(row(listed.at(-1)));
      if (this.opened.has("others")) rows.push(...lines(rest.slice(kept)));
    }
    rows.push(make("tr", { class: "w-total", "data-nats": together }, make("th", { scope: "row" }, "together"), make("td", {}), make("td", { class: "num" }, bits(together))));
    byId("w-ledger").replaceChildren(...rows);
    const other = b === null ? "all others" : classes[b];
    byId("w-ledger-of").textContent = `Bits for ${classes[a]} (right) against ${other} (left); a bit doubles the odds.`;
    byId("w-whole").hidden = !told;
    byId("w-whole").textContent = told;
    this.controls.colour((name, text) => this.coloured(name, text, a, b));
  }

  // One row to send: of a page that lies on this machine the link is its name alone.
  card() {
    const { classes, colours } = this.portable;
    let [a, b] = this.weighed(this.chances);
    const turn = b !== null && this.chances[b] > this.chances[a] ? -1 : 1;
    if (turn < 0) [a, b] = [b, a];
    const rows = this.ranked.map((e) => ({ told: e.whole ? e.name : this.valued(e.name), ratio: turn * e.ratio }));
    const address = location.href.split("#")[0];
    const link = `${location.protocol === "file:" ? address.split("/").at(-1) : address}#${hashOf(this.state)}`;
    return { target: this.page.target ?? "", name: classes[a], chance: this.chances[a], against: b === null ? "all others" : classes[b], rows, link, notes: [this.told.note, ...this.novelty(this.cells)].filter(Boolean), colours: [colours[a], b === null ? "other" : colours[b]] };
  }

  // On paper lines are closed: one for each attribute.
  print() {
    const { opened } = this;
    this.opened = new Set();
    this.ledger();
    printLetter(this.state, this.page.target ?? "", this.novelty(this.cells), this.told.stands_in);
    this.opened = opened;
    this.ledger();
    for (const draw of this.drawn) draw();
  }

  // A line of the ledger that opens to what is inside.
  opener(key, told) {
    const open = this.opened.has(key);
    const turn = () => {
      if (!this.opened.delete(key)) this.opened.add(key);
      this.ledger();
      for (const draw of this.drawn) draw();
      document.querySelector(`[data-opens="${CSS.escape(key)}"]`)?.focus();
    };
    return make("button", { type: "button", class: "w-open", "data-opens": key, "aria-expanded": String(open), onclick: turn }, told);
  }

  // What the words of a text say, where one class is weighed against another.
  words(name, a, b) {
    const text = name === null ? null : this.cells.get(name);
    if (b === null || typeof text !== "string") return [];
    return wordsSaid(this.portable, name, text, a, b).map(({ word, times, ratio }) => ({ name: times > 1 ? `${word} ×${times}` : word, ratio }));
  }

  // A text as it was typed, its words in the colour of the class that they speak for, the stronger the more they say.
  coloured(name, text, a, b) {
    const other = b ?? this.chances.map((_, k) => k).filter((k) => k !== a).reduce((x, y) => (this.chances[y] > this.chances[x] ? y : x));
    const pieces = piecesOf(this.portable, name, text, a, other);
    const most = Math.max(0.5, ...pieces.map(([, nats]) => Math.abs(nats ?? 0)).filter(Number.isFinite));
    return pieces.map(([words, nats]) => {
      if (!nats) return words;
      const mark = make("mark", { class: this.portable.colours[nats > 0 ? a : other], "data-bits": bits(nats) }, words);
      mark.style.setProperty("--said", `${Math.round(12 + 55 * Math.min(1, Math.abs(nats) / most))}%`);
      return mark;
    });
  }

  valued(name) {
    const k = this.portable.attributes.findIndex((a) => a.name === name && a.part);
    if (k >= 0) return this.dated(k);
    const own = this.state.values.get(name);
    return own === undefined ? name : `${name || "(no name)"} = ${own ?? "unknown"}`;
  }

  // A part of a date in words: "when on Fridays".
  dated(k) {
    const { name, levels, kind } = this.portable.attributes[k];
    const cell = this.cells.get(name);
    const known = kind === "level" ? cell >= 0 : Number.isFinite(cell);
    const [before, after] = this.about[k].words;
    return known ? `${before}${kind === "level" ? levels[cell] : numberLabel(cell)}${after}` : `${name} = unknown`;
  }

  // What training had nothing like, in sentences.
  novelty(cells) {
    const said = this.portable.attributes.flatMap((attribute, k) => {
      if (attribute.kind === "level" && cells.get(attribute.name) === UNSEEN) return [`${attribute.name} has a level that training did not have.`];
      const [low, high] = this.about[k].ends ?? [];
      const x = cells.get(attribute.name);
      if (low === undefined || !Number.isFinite(x) || (x >= low && x <= high)) return [];
      const spelled = attribute.kind === "date" ? dateLabel : numberLabel;
      return [`${attribute.name}=${spelled(x)} is beyond all values of training (${spelled(low)} to ${spelled(high)}).`];
    });
    if (isUnlike(this.portable, cells)) said.push("These values hardly occurred together in training: take this answer with care.");
    return said;
  }

  // What takes longer waits until one stops typing.
  later() {
    if (this.portable.classes.length > 1 && this.slow) this.ledger();
    for (const draw of this.drawn ?? []) draw();
    clearTimeout(this.waiting);
    const { portable, cells, loss } = this;
    this.key();
    this.controls.respond(portable, cells, this.chances, () => cells === this.cells);
    this.map.show(cells);
    this.questions(this.describer, cells, loss);
    const said = this.novelty(cells);
    byId("w-novel").textContent = said.join(" ");
    byId("w-novel").hidden = !said.length;
    const found = changesOf(portable, cells, loss, this.about);
    const items = found.slice(0, 6).map((change) => {
      const to = change.after.slice(0, 4).map((v) => cut(v, 30)).join(" or ");
      const use = () => {
        this.state.values.set(change.name, change.value);
        byId("w-start").value = "own";
        this.reset();
      };
      return make("li", { "data-name": change.name, "data-after": change.value },
        `${cut(change.name, 40)} = ${to} would make it ${cut(loss.actions[change.action], 40)} `,
        make("button", { type: "button", class: "w-try", onclick: use, "aria-label": `try ${change.name} = ${change.value}` }, "try"));
    });
    items.unshift(...this.leftOut(portable, cells, loss));
    byId("w-changes").replaceChildren(...items);
    byId("w-changes-none").hidden = items.length > 0;
    if (byId("w-nomogram").open && portable.classes.length > 1) this.nomogram();
    byId("w").dataset.done = String(Number(byId("w").dataset.done ?? 0) + 1);
  }

  // Without which words of a text the decision would be another.
  leftOut(portable, cells, loss) {
    const texts = portable.attributes.filter(({ kind, name }) => kind === "text" && cells.get(name));
    return texts.map(({ name }) => wordChange(portable, cells, loss, name)).filter(Boolean).map(({ name, words, value, action }) => {
      const use = () => {
        this.state.values.set(name, value);
        byId("w-start").value = "own";
        this.reset();
      };
      const said = words.map((word) => `“${cut(word, 30)}”`);
      const listed = said.length > 1 ? `${said.slice(0, -1).join(", ")} and ${said.at(-1)}` : said[0];
      return make("li", { "data-name": name, "data-without": words.join(" ") }, `Without ${listed} it would be ${cut(loss.actions[action], 40)} `,
        make("button", { type: "button", class: "w-try", onclick: use, "aria-label": `try it without ${words.join(", ")}` }, "try"));
    });
  }

  // One attribute after the other, in slices of time; what was begun for other values is dropped.
  questions(portable, cells, loss) {
    byId("w-next").hidden = !portable.generative || portable.classes.length < 2;
    const open = byId("w-next").hidden ? [] : missingIn(portable, cells);
    const found = [];
    byId("w").dataset.busy = "";
    const slice = () => {
      if (cells !== this.cells) return;
      for (const until = performance.now() + SLICE; open.length && performance.now() < until; ) {
        const attribute = open.shift();
        found.push({ name: attribute.name, drop: dropBy(attribute, portable, cells, loss, this.told.reserve) });
      }
      if (open.length) {
        setTimeout(slice);
        return;
      }
      this.asked(found.sort((a, b) => b.drop - a.drop));
      delete byId("w").dataset.busy;
    };
    slice();
  }

  asked(found) {
    const worth = found.filter((q) => q.drop > 1e-12).slice(0, 5);
    byId("w-questions").replaceChildren(...worth.map((q) =>
      make("li", { "data-name": q.name, "data-drop": q.drop }, `${cut(q.name, 50)}: lowers the expected cost by ${figure(q.drop)}`)));
    const none = found.length ? "No single answer would change the decision." : "Every value is known.";
    byId("w-questions-none").textContent = worth.length ? "" : none;
  }

  // The lines of the nomogram, and the two classes that they weigh.
  lines() {
    let [a, b] = this.weighed(this.chances);
    b ??= this.chances.map((_, k) => k).filter((k) => k !== a).reduce((x, y) => (this.chances[y] > this.chances[x] ? y : x));
    return { a, b, ...linesOf(this.portable, this.cells, this.about, a, b, ledgerOf(this.portable, this.cells, a, b).entries) };
  }

  nomogram() {
    const { a, b, ...found } = this.lines();
    const { classes } = this.portable;
    if (!found.lines?.length) {
      const why = found.lines ? "No value moves the answer for this row." : "The scores of this model are not a sum over attributes, or a class is impossible for this row, so there are no points to add.";
      byId("w-points").replaceChildren(make("p", {}, why));
      return;
    }
    const described = `Nomogram: points of each value for ${classes[a]} against ${classes[b]}`;
    const figure_ = make("figure", {}, make("div", { class: "w-scroll", tabindex: 0, role: "group", "aria-label": "Nomogram" }, nomogram(found, [classes[a], classes[b]], logOdds(this.logs, a, b), described)));
    const how = "Find each value on its line and read its points straight up on the scale at the top. Add them, find the sum on the line of total points, and read the probability below it.";
    const odds = classes.length > 2 ? ` The probability is that of ${classes[a]} where only ${classes[b]} could be it instead.` : "";
    const held = [found.more ? `${found.more} weaker attribute${found.more > 1 ? "s" : ""}` : "", found.texts ? "texts" : ""].filter(Boolean).join(" and ");
    const rest = held ? ` Not drawn, and taken as in the row above: ${held}.` : "";
    const only = "This sheet is for this row only. The model reads several attributes together: a line says how the answer moves as that value alone changes, while all others stay as they are in this row. Points add up to the answer of this row, and one changed value gives its exact answer; before a second one, change the first above, and the lines are drawn anew.";
    byId("w-points").replaceChildren(...(found.alone ? [] : [make("p", { class: "callout" }, only)]), make("p", { class: "w-note" }, `${how}${odds}${rest}`), figure_);
    savable(figure_);
  }

  lossTable() {
    const { actions, costs } = this.state;
    const { classes } = this.portable;
    const few = classes.length <= MOST_CLASSES && actions.length <= MOST_CLASSES;
    byId("w-costs").hidden = !few;
    byId("w-costs-many").hidden = few;
    const number = (label, set) => {
      const box = make("input", { type: "text", inputmode: "decimal", size: 5, "aria-label": label });
      box.addEventListener("input", () => {
        const value = Number(box.value);
        const bad = box.value.trim() === "" || !Number.isFinite(value);
        marked(box, bad);
        if (!bad) set(value);
      });
      return box;
    };
    this.boxes = few ? classes.map((name, k) => actions.map((action, j) => number(`cost of ${action} where it is ${name}`, (value) => {
      this.state.costs[k][j] = value;
      this.state.changed = true;
      this.update();
    }))) : [];
    const head = make("tr", {}, make("th", { scope: "col" }, "where it is"), ...actions.map((action) => make("th", { scope: "col" }, cut(action, 24))));
    const rows = this.boxes.map((row, k) => make("tr", {}, make("th", { scope: "row" }, cut(classes[k], 24)), ...row.map((box) => make("td", {}, box))));
    if (few) byId("w-costs").replaceChildren(make("caption", {}, "What each decision costs"), make("thead", {}, head), make("tbody", {}, ...rows));
    this.abstain = byId("w-abstain");
    this.allowed = byId("w-allow");
    const changed = () => {
      const value = Number(this.abstain.value);
      const bad = this.abstain.value.trim() === "" || !Number.isFinite(value);
      marked(this.abstain, this.allowed.checked && bad);
      this.abstain.disabled = !this.allowed.checked;
      this.state.abstain = this.allowed.checked && !bad ? value : null;
      this.update();
    };
    this.abstain.addEventListener("input", changed);
    this.allowed.addEventListener("change", changed);
  }

  lossValues() {
    this.boxes.forEach((row, k) => row.forEach((box, j) => {
      box.value = String(this.state.costs[k][j]);
    }));
    this.allowed.checked = this.state.abstain !== null;
    this.abstain.disabled = !this.allowed.checked;
    if (this.state.abstain !== null) this.abstain.value = String(this.state.abstain);
  }

  share() {
    if (!byId("w-share").open) return;
    byId("w-link").value = `${location.href.split("#")[0]}#${hashOf(this.state)}`;
    byId("w-cli").value = commandOf(this.state, this.page);
    byId("w-python").value = pythonOf(this.state);
  }

  async copy(which, button) {
    const box = byId(`w-${which}`);
    box.select();
    let done = false;
    try {
      await navigator.clipboard.writeText(box.value);
      done = true;
    } catch {
      done = document.execCommand("copy"); // where the page may not use the clipboard otherwise
    }
    button.textContent = done ? "copied" : "press Ctrl+C";
    setTimeout(() => {
      button.textContent = "copy";
    }, 1500);
  }
}

async function started() {
  const held = byId("likely-model");
  if (!held || !byId("w")) return;
  const page = byId("likely-page");
  const told = JSON.parse(await globalThis.likelyUnpacked(held.textContent));
  globalThis.likelyWhatIf = new WhatIf({ ...told, portable: unfolded(told.portable) }, page ? JSON.parse(page.textContent) : {});
}

if (typeof document !== "undefined") {
  started();
  document.documentElement.dataset.ready = "";
}
