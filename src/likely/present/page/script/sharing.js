// The state of the what-if as a link, as a command and as Python. Knows texts; no scores and no page.

// A word for a POSIX shell.
export function quoted(word) {
  return /^[A-Za-z0-9_@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

export function commandOf(state, page) {
  const given = [...state.values].filter(([, value]) => value !== null).map(([name, value]) => `${name}=${value}`);
  const options = [];
  if (state.of !== null) options.push("--class", state.of);
  if (state.against !== null) options.push("--against", state.against);
  // Words that begin with a dash would be taken for options.
  const dashed = given.some((word) => word.startsWith("-"));
  const words = ["likely", "explain", ...options, "model.likely", ...(dashed ? ["--"] : []), ...given];
  const lines = [words.map(quoted).join(" ")];
  if (page.data && page.target) {
    lines.unshift(["likely", "fit", page.data, page.target, ...(page.learner ?? []), "-o", "model.likely"].map(quoted).join(" "));
  }
  return lines.join("\n");
}

export function pythonOf(state) {
  const cells = [...state.values].filter(([, value]) => value !== null);
  const row = cells.map(([name, value]) => `    ${JSON.stringify(name)}: ${JSON.stringify(value)},`);
  const inside = row.length ? `{\n${row.join("\n")}\n}` : "{}";
  return `import likely\n\nmodel = likely.load("model.likely")\nrow = ${inside}\nprint(model.posterior(row))\nprint(likely.explain(model, row))`;
}

// What the address of the page says after '#': values by ".name", all else by a word.
export function hashOf(state) {
  const out = new URLSearchParams();
  for (const [name, value] of state.values) if (value !== null) out.append(`.${name}`, value);
  if (state.of !== null) out.append("of", state.of);
  if (state.against !== null) out.append("against", state.against);
  if (state.changed) out.append("costs", state.costs.map((row) => row.join(",")).join(";"));
  if (state.abstain !== null) out.append("abstain", String(state.abstain));
  return out.toString();
}

export function stateIn(hash, state) {
  const found = new URLSearchParams(hash.replace(/^#/, ""));
  if (![...found.keys()].some((key) => key.startsWith(".") || ["of", "against", "costs", "abstain"].includes(key))) {
    return false;
  }
  for (const name of state.values.keys()) state.values.set(name, found.get(`.${name}`));
  state.of = state.classes.includes(found.get("of")) ? found.get("of") : null;
  const against = found.get("against");
  state.against = against === "rest" || state.classes.includes(against) ? against : null;
  const costs = (found.get("costs") ?? "").split(";").map((row) => row.split(",").map(Number));
  if (costs.length === state.costs.length && costs.every((row, k) => row.length === state.costs[k].length && row.every(Number.isFinite))) {
    state.costs = costs;
    state.changed = true;
  }
  const abstain = found.get("abstain");
  state.abstain = abstain !== null && Number.isFinite(Number(abstain)) ? Number(abstain) : null;
  return true;
}
