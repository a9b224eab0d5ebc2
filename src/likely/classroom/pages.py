"""Finite probability from TOML files: hypotheses, and joint tables typed by hand."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import product
from math import factorial, prod
from pathlib import Path
from typing import Any

from likely.classroom.belief import Choice, choice
from likely.classroom.hypotheses import Bayes, Hypotheses, bayes
from likely.classroom.joint import Conditional, Joint
from likely.classroom.writing import event_text, match_value
from likely.errors import SettingError, nearest, shown
from likely.machinery.text_files import parse_toml, read_toml_text
from likely.models.fractions import Number, check_sum, probability, spell, total
from likely.models.loss import Loss

# Hypotheses in a TOML file: priors, evidence, likelihoods of attributes, a bag of words, predictions.

PAGE_KEYS = ("title", "prior", "priors", "evidence", "attributes", "row", "bag", "predicts", "table", "values")
MOST_CASES = 4096
"""Combinations of attributes that are worked out one by one."""


@dataclass(frozen=True)
class Bag:
    """Words (or letters) that were counted, and how probable each is under each hypothesis (multinomial)."""

    seen: Mapping[str, int]
    given: Mapping[str, Mapping[str, Number]]
    """P(word | hypothesis), by hypothesis."""

    @property
    def arrangements(self) -> int:
        """The multinomial coefficient: in how many orders these words can stand."""
        return factorial(sum(self.seen.values())) // prod(factorial(n) for n in self.seen.values())

    def likelihood(self, hypothesis: str) -> Number:
        """P(these counts | hypothesis) = coefficient · Π P(word | hypothesis)^count."""
        own = self.given[hypothesis]
        return self.arrangements * prod((own[word] ** n for word, n in self.seen.items()), start=Fraction(1))


@dataclass(frozen=True)
class Case:
    """One combination of values of the attributes: how probable it is under each hypothesis, and what follows."""

    values: Mapping[str, str]
    likelihood: Mapping[str, Number]
    belief: Bayes | None
    """None where it is impossible under every hypothesis that has a prior."""
    known: Mapping[str, Number] | None = None
    """P(hypothesis | values) as the page gives it, beside what independence makes of it."""


@dataclass(frozen=True)
class Policy:
    """What is best to do in each case, and what that costs."""

    choices: tuple[Choice | None, ...]
    """By case; None where it is impossible."""
    cost: Number
    """Σ P(case) · the least expected cost in it."""
    blind: Choice
    """The one action that costs least where no case is looked at."""


@dataclass(frozen=True)
class HypothesesPage:
    """Everything on a page, checked. `belief` is what is believed after all its evidence."""

    title: str
    prior: Mapping[str, Number]
    evidence: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    attributes: Mapping[str, Mapping[str, Mapping[str, Number]]] = field(default_factory=dict)
    """P(attribute=level | hypothesis), by attribute, level and hypothesis."""
    row: Mapping[str, str] = field(default_factory=dict)
    bag: Bag | None = None
    predicts: Mapping[str, Any] = field(default_factory=dict)
    priors: tuple[Mapping[str, Number], ...] = ()
    """Other priors to try."""
    table: Conditional | None = None
    """P(hypothesis | attributes) where it is known."""
    values: Mapping[str, Joint] = field(default_factory=dict)
    """P(attribute), to average over one that is unknown."""

    @property
    def belief(self) -> Bayes:
        """What is believed after all the evidence of the page."""
        return self.believed(self.prior)

    def believed(self, prior: Mapping[str, Number]) -> Bayes:
        """The same from another prior."""
        out = bayes(prior)
        for name, likelihood in self.evidence:
            out = out.update(likelihood, name)
        if self.bag is not None:
            seen = ", ".join(f"{w} × {n}" for w, n in self.bag.seen.items())
            out = out.update({h: self.bag.likelihood(h) for h in self.prior}, seen)
        for name, level in self.row.items():
            if name in self.attributes:
                out = out.update(dict(self.attributes[name][level]), f"{name}={level}")
        return out

    @property
    def hypotheses(self) -> Hypotheses | None:
        """What is believed after the evidence, with what each predicts; None where nothing is predicted."""
        return Hypotheses(self.belief.posterior, dict(self.predicts)) if self.predicts else None

    @property
    def cases(self) -> tuple[Case, ...]:
        """Every combination of values of the attributes, before any evidence of the page."""
        out = []
        for levels in product(*self.attributes.values()):
            values = dict(zip(self.attributes, levels, strict=True))
            likelihood = {
                h: prod((self.attributes[a][v][h] for a, v in values.items()), start=Fraction(1)) for h in self.prior
            }
            possible = any(self.prior[h] * p for h, p in likelihood.items())
            belief = bayes(self.prior, likelihood, event_text(values)) if possible else None
            out.append(Case(values, likelihood, belief, self._known(values)))
        return tuple(out)

    def _known(self, values: Mapping[str, str]) -> dict[str, Number] | None:
        if self.table is None:
            return None
        key = tuple(values[p] for p in self.table.parents)
        found = self.table.tables.get(key)
        return None if found is None else {h: found.cells.get((h,), Fraction(0)) for h in self.prior}

    @property
    def error(self) -> Number:
        """The Bayes error over all cases: Σ P(case) · (1 − max P(hypothesis | case)), attributes independent."""
        return 1 - total(max(self.prior[h] * p for h, p in case.likelihood.items()) for case in self.cases)

    def policy(self, loss: Loss) -> Policy:
        """The best action in every case, after its evidence, and what that costs in the mean over all cases."""
        chosen = tuple(None if case.belief is None else choice(case.belief, loss) for case in self.cases)
        cost = total(found.unnormalised[found.action] for found in chosen if found is not None)
        return Policy(chosen, cost, choice(bayes(self.prior), loss))

    @property
    def averaged(self) -> tuple[tuple[Mapping[str, str], Mapping[str, Number], Number], ...]:
        """The known table at the row: for each case of what is unknown its values, P(hypothesis | all), P(case)."""
        if self.table is None or not self.row:
            return ()
        unknown = [p for p in self.table.parents if p not in self.row]
        for name in unknown:
            if name not in self.values:
                raise SettingError(
                    f"The row does not say what {shown(name)} is. Say it, or give [values.{name}] to average over it."
                )
        out = []
        for levels in product(*(self.values[n].levels[n] for n in unknown)):
            case = dict(zip(unknown, map(spell, levels), strict=True))
            known = self._known({**self.row, **case})
            if known is None:
                raise SettingError(f"The table has no line for {event_text({**self.row, **case})}. Give one.")
            chance = prod((self.values[n].p({n: v}) for n, v in case.items()), start=Fraction(1))
            out.append((case, known, chance))
        return tuple(out)

    def with_row(self, row: Mapping[str, str]) -> HypothesesPage:
        """The same page with another row."""
        return replace(self, row=_row(row, self.attributes, self.table, "The row"))

    def with_prior(self, prior: Mapping[str, Any]) -> HypothesesPage:
        """The same page with another prior; one hypothesis may be left out, which gets the rest."""
        return replace(self, prior=_prior(prior, tuple(self.prior), "The prior"))


def read_hypotheses(path: str | Path) -> HypothesesPage:
    """The hypotheses in a TOML file."""
    return parse_hypotheses(read_toml_text(path), Path(path).name)


def parse_hypotheses(text: str, name: str = "The page") -> HypothesesPage:
    """The hypotheses in a TOML file; decimals are exact, and fractions go in quotes.

    >>> page = parse_hypotheses('[prior]\\nh1 = 0.4\\nh2 = 0.6\\n[predicts]\\nh1 = "+"\\nh2 = "-"')
    >>> page.hypotheses.optimal, page.hypotheses.optimal_error
    ('-', Fraction(2, 5))
    """
    page = parse_toml(text, name, "hypotheses", exact=True)
    for key in page:
        if key not in PAGE_KEYS:
            raise SettingError(f"{shown(name)} has {shown(key)}, which it does not know. {nearest(key, PAGE_KEYS)}")
    held = _part(page, "prior", name)
    if not held:
        raise SettingError(f"{shown(name)} has no [prior]. Give each hypothesis its probability before any evidence.")
    named = _named_hypotheses(page, name)
    prior = _prior(held, tuple(dict.fromkeys((*held, *named))), f"{shown(name)}: the prior")
    attributes = {a: _attribute(a, of, prior, name) for a, of in _part(page, "attributes", name).items()}
    if prod(len(levels) for levels in attributes.values()) > MOST_CASES:
        raise SettingError(f"{shown(name)} has attributes with more than {MOST_CASES:,} combinations. Give fewer.")
    table = _table(page.get("table"), prior, name)
    values = {n: _values(n, of, name) for n, of in _part(page, "values", name).items()}
    return HypothesesPage(
        str(page.get("title", "")),
        prior,
        tuple(
            _piece(k, e, prior, name) for k, e in enumerate(_list(page, "evidence", name), 1) for _ in _times(e, name)
        ),
        attributes,
        _row(_part(page, "row", name), attributes, table, shown(name)),
        _bag(page["bag"], prior, name) if "bag" in page else None,
        _predicts(_part(page, "predicts", name), prior, name),
        tuple(_prior(p, tuple(prior), f"{shown(name)}: one of the priors") for p in _list(page, "priors", name)),
        table,
        values,
    )


def _part(page: Mapping[str, Any], key: str, name: str) -> Mapping[str, Any]:
    held = page.get(key, {})
    if not isinstance(held, Mapping):
        raise SettingError(f"{shown(name)}: {key} is {shown(held)}. Write it as a part: [{key}], then name = value.")
    return held


def _list(page: Mapping[str, Any], key: str, name: str) -> list[Mapping[str, Any]]:
    held = page.get(key, [])
    if not isinstance(held, list) or any(not isinstance(e, Mapping) for e in held):
        raise SettingError(f"{shown(name)}: {key} is {shown(held)}. Write each as a part: [[{key}]].")
    return held


def _named_hypotheses(page: Mapping[str, Any], name: str) -> list[str]:
    """Hypotheses that are named behind the prior: one that has no prior gets the rest."""
    out: list[str] = []
    for piece in _list(page, "evidence", name):
        out += list(piece.get("likelihood", {})) if isinstance(piece.get("likelihood"), Mapping) else []
    for of in _part(page, "attributes", name).values():
        out += list(of) if isinstance(of, Mapping) else []
    return [*out, *_part(page, "predicts", name)]


def _prior(given: Mapping[str, Any], names: tuple[str, ...], where: str) -> dict[str, Number]:
    for key in given:
        if key not in names:
            raise SettingError(f"{where} names {shown(key)}, which is not a hypothesis. {nearest(key, names)}")
    found = bayes(given, None if {*names} <= {*given} else dict.fromkeys(names, 1)).prior
    return {h: found[h] for h in names}


def _each(of: Any, prior: Mapping[str, Number], where: str) -> dict[str, Any]:
    """A value for every hypothesis."""
    if not isinstance(of, Mapping):
        raise SettingError(f"{where} is {shown(of)}. Give a value for each hypothesis.")
    out = {}
    for h, v in of.items():
        out[str(match_value(h, prior, f"hypothesis (in {where})"))] = v
    for h in prior:
        if h not in out:
            raise SettingError(f"{where} says nothing of the hypothesis {shown(h)}. Give it a value.")
    return {h: out[h] for h in prior}


def _times(piece: Mapping[str, Any], name: str) -> range:
    times = piece.get("times", 1)
    if isinstance(times, bool) or not isinstance(times, int) or not 1 <= times <= 1000:
        raise SettingError(f"{shown(name)}: times is {shown(times)}. Say how often it was seen: 1 to 1000.")
    return range(times)


def _piece(k: int, piece: Mapping[str, Any], prior: Mapping[str, Number], name: str) -> tuple[str, dict[str, Any]]:
    for key in piece:
        if key not in ("name", "likelihood", "times"):
            raise SettingError(
                f"{shown(name)}: evidence {k} has {shown(key)}. Give name, likelihood = {{hypothesis = P}} and times."
            )
    own = str(piece.get("name", f"evidence {k}"))
    return own, _each(piece.get("likelihood"), prior, f"{shown(name)}: the likelihood of {shown(own)}")


def _attribute(attribute: str, of: Any, prior: Mapping[str, Number], name: str) -> dict[str, dict[str, Number]]:
    """P(level | hypothesis) by level; a single number is P(1 | hypothesis), and the rest that of 0."""
    where = f"{shown(name)}: the attribute {shown(attribute)}"
    held = _each(of, prior, where)
    if all(not isinstance(v, Mapping) for v in held.values()):
        ones = {h: probability(v, f"P({attribute}=1 | {h})") for h, v in held.items()}
        return {"0": {h: 1 - p for h, p in ones.items()}, "1": ones}
    if any(not isinstance(v, Mapping) for v in held.values()):
        raise SettingError(f"{where} has a number for some hypotheses and values for others. Give one or the other.")
    levels = dict.fromkeys(level for v in held.values() for level in v)
    out: dict[str, dict[str, Number]] = {level: {} for level in levels}
    for h, row in held.items():
        read = {level: probability(row.get(level, 0), f"P({attribute}={level} | {h})") for level in levels}
        check_sum(read.values(), f"{where}: the probabilities given {shown(h)}")
        for level, p in read.items():
            out[level][h] = p
    return out


def _row(
    given: Mapping[str, Any], attributes: Mapping[str, Any], table: Conditional | None, where: str
) -> dict[str, str]:
    known = dict.fromkeys([*attributes, *(table.parents if table is not None else ())])
    out = {}
    for name, value in given.items():
        if name not in known:
            raise SettingError(
                f"{where}: the row names {shown(name)}, which is not an attribute. {nearest(name, known)}"
            )
        if name in attributes:
            among = list(attributes[name])
        else:
            assert table is not None
            among = list(dict.fromkeys(str(key[table.parents.index(name)]) for key in table.tables))
        out[name] = str(match_value(value, among, f"value of {shown(name)} that is"))
    return out


def _bag(bag: Any, prior: Mapping[str, Number], name: str) -> Bag:
    where = f"{shown(name)}: the bag"
    if not isinstance(bag, Mapping) or {*bag} != {"seen", "given"} or not isinstance(bag["seen"], Mapping):
        raise SettingError(f"{where} needs [bag.seen] (how often each word) and [bag.given] (P(word) by hypothesis).")
    seen = {}
    for word, n in bag["seen"].items():
        if isinstance(n, bool) or not isinstance(n, int) or not 0 <= n <= 1000:
            raise SettingError(f"{where}: {shown(word)} was seen {shown(n)} times. Give a whole number, at most 1000.")
        seen[word] = n
    given = {}
    for h, words in _each(bag["given"], prior, f"{where}, given").items():
        if not isinstance(words, Mapping) or {*words} != {*seen}:
            raise SettingError(f"{where}: {shown(h)} does not give the probability of the words seen, each once.")
        given[h] = {w: probability(words[w], f"P({w} | {h})") for w in seen}
        check_sum(given[h].values(), f"{where}: the probabilities given {shown(h)}")
    return Bag(seen, given)


def _predicts(said: Mapping[str, Any], prior: Mapping[str, Number], name: str) -> dict[str, Any]:
    if not said:
        return {}
    out = _each(said, prior, f"{shown(name)}: what is predicted")
    for h, v in out.items():
        if isinstance(v, list):
            raise SettingError(f"{shown(name)}: {shown(h)} predicts a list. Give a value, or a probability for each.")
    return {h: v if isinstance(v, Mapping) else spell(v) for h, v in out.items()}


def _table(lines: Any, prior: Mapping[str, Number], name: str) -> Conditional | None:
    if lines is None:
        return None
    where = f"{shown(name)}: the table"
    rows: dict[tuple[Hashable, ...], dict[str, Any]] = {}
    parents: tuple[str, ...] = ()
    for k, line in enumerate(_list({"table": lines}, "table", name), 1):
        when = line.get("when")
        if not isinstance(when, Mapping) or not when:
            raise SettingError(f"{where}, line {k}, has no when = {{attribute = value}}. Give it.")
        parents = parents or tuple(when)
        if {*when} != {*parents}:
            raise SettingError(f"{where}, line {k}, does not name the attributes of the first. Name the same.")
        key = tuple(spell(when[p]) for p in parents)
        if key in rows:
            raise SettingError(f"{where}, line {k}, has the values of an earlier one. Give each once.")
        rest = {h: v for h, v in line.items() if h != "when"}
        rows[key] = dict(_prior(rest, tuple(prior), f"{where}, line {k},"))
    return Conditional(rows, "hypothesis", parents)


def _values(attribute: str, of: Any, name: str) -> Joint:
    where = f"{shown(name)}: the values of {shown(attribute)}"
    if not isinstance(of, Mapping):
        one = probability(of, f"{where}: P({attribute}=1)")
        return Joint({"0": 1 - one, "1": one}, attribute)
    read = {level: probability(p, f"P({attribute}={level})") for level, p in of.items()}
    check_sum(read.values(), where)
    return Joint(read, attribute)


# A joint table typed by hand in a TOML file: all cells in a row, or cell by cell. Only reads and checks.

TABLE_KEYS = ("title", "levels", "probabilities", "counts", "cell")
_HOW = (
    "Give [levels] with the values of each variable, and probabilities = […] (or counts) of all cells, the last "
    "variable running fastest; or a [[cell]] for each, with values = {…} and probability or count."
)


def parse_joint(text: str, name: str = "The table") -> Joint:
    """The joint table in a TOML file; decimals are exact, and fractions go in quotes.

    >>> parse_joint("probabilities = [0.4, 0.1, 0.2, 0.3]\\n[levels]\\nA = [0, 1]\\nB = [0, 1]").p(A=1)
    Fraction(1, 2)
    """
    page = parse_toml(text, name, "a joint table", exact=True)
    for key in page:
        if key not in TABLE_KEYS:
            raise SettingError(
                f"{shown(name)} has {shown(key)}, which is no part of a joint table. {nearest(key, TABLE_KEYS)}"
            )
    kinds = [key for key in ("probabilities", "counts", "cell") if key in page]
    if len(kinds) != 1:
        found = " and ".join(kinds) if kinds else "no cells"
        raise SettingError(f"{shown(name)} has {found}. {_HOW}")
    if kinds[0] == "cell":
        return _cells(page, name)
    levels = _levels(page, name)
    given = page[kinds[0]]
    if not levels or not isinstance(given, list):
        raise SettingError(f"{shown(name)} has no [levels], or no list of {kinds[0]}. {_HOW}")
    if kinds[0] == "probabilities":
        return Joint.listed(levels, given)
    size = prod(len(values) for values in levels.values())
    if len(given) != size:
        raise SettingError(f"{shown(name)} has {len(given)} counts for {size} cells. Give one for each.")
    counts = dict(zip(product(*levels.values()), given, strict=True))
    return Joint.from_counts(counts, tuple(levels), sample=True, levels=levels)


def read_joint(path: str | Path) -> Joint:
    """The joint table in a TOML file."""
    return parse_joint(read_toml_text(path), Path(path).name)


def _levels(page: Mapping[str, Any], name: str) -> dict[str, list[Hashable]]:
    held = page.get("levels", {})
    if not isinstance(held, Mapping):
        raise SettingError(f"{shown(name)}: levels is {shown(held)}. {_HOW}")
    for variable, values in held.items():
        if not isinstance(values, list) or not values or any(isinstance(v, (list, dict)) for v in values):
            raise SettingError(f"{shown(name)}: the levels of {shown(variable)} must be a list of single values.")
        if len({*map(str, values)}) != len(values):
            raise SettingError(f"{shown(name)}: the levels of {shown(variable)} name a value twice. Name each once.")
    return dict(held)


def _cells(page: Mapping[str, Any], name: str) -> Joint:
    cells = page["cell"]
    if not isinstance(cells, list) or not cells:
        raise SettingError(f"{shown(name)}: cell is {shown(cells)}. {_HOW}")
    variables: tuple[str, ...] = ()
    kind, out = "", dict[tuple[Hashable, ...], Any]()
    for k, cell in enumerate(cells, 1):
        where = f"{shown(name)}: cell {k}"
        values = cell.get("values") if isinstance(cell, Mapping) else None
        own = [key for key in ("probability", "count") if isinstance(cell, Mapping) and key in cell]
        if not isinstance(values, Mapping) or not values or len(own) != 1 or len(cell) != 2:
            raise SettingError(f"{where} is not values = {{…}} and either probability or count. Correct it.")
        variables, kind = variables or tuple(values), kind or own[0]
        if {*values} != {*variables}:
            listed = ", ".join(shown(v) for v in variables)
            raise SettingError(f"{where} does not have the variables of the first: {listed}. Give each a value.")
        if own[0] != kind:
            raise SettingError(f"{where} has a {own[0]}, but the first a {kind}. Give one or the other in all.")
        key = tuple(values[v] for v in variables)
        if any(isinstance(v, (list, dict)) for v in key):
            raise SettingError(f"{where} has a list where a single value should be. Correct it.")
        if key in out:
            raise SettingError(f"{where} has the same values as an earlier one. Give each cell once.")
        out[key] = cell[kind]
    levels = _levels(page, name)
    if kind == "probability":
        return Joint(out, variables, levels=levels)
    return Joint.from_counts(out, variables, sample=True, levels=levels)
