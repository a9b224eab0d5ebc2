// The threshold: of the rows that rank highest, how many are called, how much of a class is reached, how many are right
// and what that costs, on held-out rows; for any class. Knows figures of the page and elements; no model.

import { byId, cut, draw, figure, make, marked, percent } from "./elements.js";
import { figuresOf } from "./figures.js";

const SQUARE = { left: 46, top: 24, wide: 240, high: 200 }; // the frame of such charts (charts/lines.py)
const SHARES = [0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1];
const across = (share) => SQUARE.left + SQUARE.wide * share;
const up = (share) => SQUARE.top + SQUARE.high * (1 - share);

// What calling the rows at and above a point comes to; `alarm` and `miss` are what mistakes cost.
export function calledAt({ rows: [hits, others], points }, k, alarm, miss) {
  const [wrong, found, threshold] = points[k];
  const called = wrong * others + found * hits;
  const whole = hits + others;
  const precision = called ? (found * hits) / called : null;
  return {
    threshold, found, precision, share: called / whole,
    lift: precision === null ? null : precision / (hits / whole),
    cost: (alarm * wrong * others + miss * (1 - found) * hits) / whole,
  };
}

class Ranking {
  constructor(classes) {
    Object.assign(this, { classes, own: classes[0], alarm: 1, miss: 1 });
    this.section = byId("ranks");
    this.charts = [...this.section.querySelectorAll("figure svg.chart")];
    this.sentence = [...this.section.querySelectorAll(":scope > p")].at(-1);
    const pick = make("select", { id: "t-of", onchange: () => this.choose(classes[Number(pick.value)]) });
    classes.forEach(({ of }, k) => pick.append(make("option", { value: k }, cut(of, 40))));
    this.slider = make("input", { id: "t-slider", type: "range", min: 0, step: 1, "aria-describedby": "t-said", oninput: () => this.show() });
    const price = (id, name) => {
      const box = make("input", { id, type: "text", inputmode: "decimal", size: 4, value: 1 });
      box.addEventListener("input", () => {
        const value = Number(box.value);
        const bad = box.value.trim() === "" || !Number.isFinite(value) || value < 0;
        marked(box, bad);
        if (!bad) this[name] = value;
        this.show();
      });
      return box;
    };
    const cheapest = make("button", { type: "button", id: "t-least", onclick: () => this.cheapest() }, "go to the least cost");
    this.said = make("p", { id: "t-said", class: "lead", role: "status" });
    this.costs = make("p", { id: "t-cost", class: "note" });
    byId("threshold").replaceChildren(
      make("p", {}, make("label", { for: "t-of" }, "Looked for: "), pick),
      make("p", { class: "t-slide" }, make("label", { for: "t-slider" }, "Call fewer or more rows"), this.slider), this.said,
      make("p", {}, make("label", { for: "t-alarm" }, "A false alarm costs "), price("t-alarm", "alarm"), make("label", { for: "t-miss" }, ", a miss "), price("t-miss", "miss"), " ", cheapest), this.costs,
    );
    this.choose(this.own, false);
  }

  choose(own, redraw = true) {
    this.own = own;
    const last = own.points.length - 1;
    this.slider.max = String(last);
    const tenth = own.points.findIndex((_, k) => calledAt(own, k, 0, 0).share >= Math.min(0.1, Math.max(0.05, own.rows[0] / (own.rows[0] + own.rows[1]))));
    this.slider.value = String(tenth < 0 ? last : tenth);
    if (redraw) {
      const all = own.points.map((_, k) => calledAt(own, k, 0, 0));
      const [hits, others] = own.rows;
      const level = hits / (hits + others);
      const rising = [[0, 0], [1, 1]];
      const of = cut(own.of, 40);
      this.square(0, all.map(({ share, found }) => [share, found]), rising, "rows called, highest first", `reached of ${of}`, "Gain");
      this.square(1, own.points, rising, "false positive rate", `recall of ${of}`, "ROC curve");
      this.square(2, all.slice(1).map(({ found, precision }) => [found, precision]), [[0, level], [1, level]], `recall of ${of}`, "precision", "Precision and recall");
      this.sentence.textContent = own.said;
      const table = this.section.querySelector('[data-table="lift"]');
      table.tHead.rows[0].cells[1].textContent = `of ${cut(own.of, 20)}`;
      [...table.tBodies[0].rows].forEach((row, k) => {
        const right = Number(((own.lift[k] * level) / SHARES[k]).toPrecision(6));
        [percent(own.lift[k]), percent(right), `×${(own.lift[k] / SHARES[k]).toFixed(2)}`].forEach((words, j) => (row.cells[j + 1].textContent = words));
      });
    }
    this.show();
  }

  // Another class in the place of the one that the page was made with.
  square(k, points, ideal, x, y, title) {
    const chart = this.charts[k];
    const line = (pairs) => `M${pairs.map(([a, b]) => `${across(a).toFixed(1)} ${up(b).toFixed(1)}`).join("L")}`;
    chart.querySelector(".accent-line").setAttribute("d", line(points));
    chart.querySelector(".ideal").setAttribute("d", line(ideal));
    const [right, above] = chart.querySelectorAll(".name");
    [right.textContent, above.textContent] = [x, y];
    chart.setAttribute("aria-label", `${title}: ${y} against ${x}`);
  }

  show() {
    const k = Number(this.slider.value);
    const { share, found, precision, lift, cost, threshold } = calledAt(this.own, k, this.alarm, this.miss);
    const of = `“${cut(this.own.of, 40)}”`;
    const right = precision === null ? "" : `; ${percent(precision)} of those called are ${of} (×${lift.toFixed(2)})`;
    const fine = threshold < 0.01 ? 1000 : 10; // rounded down, so that it holds of all
    const least = Math.min(99.9, Math.floor(100 * threshold * fine) / fine);
    const words = share === 0 ? `Call nobody: reach none of ${of}.` : `Call the top ${percent(share)}, all with P ≥ ${least}\u00a0%: reach ${percent(found)} of ${of}${right}.`;
    this.said.textContent = words;
    this.slider.setAttribute("aria-valuetext", words);
    this.costs.textContent = `That costs ${figure(cost)} a row. Calling nobody costs ${figure(calledAt(this.own, 0, this.alarm, this.miss).cost)}, calling everybody ${figure(calledAt(this.own, this.own.points.length - 1, this.alarm, this.miss).cost)}.`;
    const spots = [[share, found], this.own.points[k], precision === null ? null : [found, precision]];
    this.charts.forEach((chart, j) => {
      chart.querySelector(".t-spot")?.remove();
      if (spots[j]) chart.append(draw("circle", { cx: across(spots[j][0]).toFixed(1), cy: up(spots[j][1]).toFixed(1), r: 5, class: "t-spot" }));
    });
  }

  cheapest() {
    const costs = this.own.points.map((_, k) => calledAt(this.own, k, this.alarm, this.miss).cost);
    this.slider.value = String(costs.indexOf(Math.min(...costs)));
    this.show();
  }
}

if (typeof document !== "undefined" && byId("threshold") && figuresOf.rankings.length) globalThis.likelyRanking = new Ranking(figuresOf.rankings);
