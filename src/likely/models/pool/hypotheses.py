"""Hypotheses: learners with settings, and how much each is believed: by evidence, or by held-out scores."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from likely.errors import SettingError, nearest, shown
from likely.machinery.arrays import Ints
from likely.machinery.threads import in_order
from likely.models.contracts import Beliefs, Learner, Learning, Model
from likely.models.factors.bins import Binned, binned, edges_of, read_tally
from likely.models.factors.categorical import Categorical, categorical
from likely.models.factors.joint import CellSettings, table
from likely.models.factors.normal import Moments, Scatter, mean_of, root_of, scatter, variance_of
from likely.models.full_bayes import FullBayes, density_kind
from likely.models.heldout.search import HeldOutParts, keep_rows, log_posterior, own_sums
from likely.models.learning import begin, side_by_side
from likely.models.model import learnable, unread_texts
from likely.models.naive.blocks import has_bins
from likely.models.naive.naive import NaiveBayes
from likely.models.pool.candidates import check_members, member_learner, restore_member
from likely.models.pool.choosing import stack_scores
from likely.models.posterior import Matrix
from likely.models.prior import NormalKnowledge, check_known, known_classes, known_normals, known_prior, prior_quotients
from likely.models.registry import learner_titles
from likely.models.settings import Settings, Variance, setting
from likely.models.shapes import JointTable
from likely.sums.columns.counts import Counts
from likely.sums.columns.numbers import Numbers
from likely.sums.contracts import State
from likely.sums.rows.pairs import Cells
from likely.sums.state import read_array, read_shares, read_texts, require
from likely.sums.summary import Summary
from likely.table.batch import Batch
from likely.table.schema import Schema

if TYPE_CHECKING:
    pass


# The evidence: how probable the data are under naive or full Bayes before any parameter is known, in closed form.

CLASS_COUNT = 1.0
"""Dirichlet parameter of each class where the learner adds nothing to the counts of classes: all shares alike."""
MEAN_ROWS = 1.0
"""A normal's mean is believed, before any row, to be the attribute's own, as if so many rows had said so."""
SPREAD_SHAPE = 1.0
"""Its variance is believed to be about the attribute's own: inverse gamma of this shape, and of this shape times the
attribute's variance as scale (two rows' worth)."""

MOST_CELLS = 10**300
"""More cells than this and their number is beyond a double."""


def log_evidence(learner: Learner, summary: Summary) -> float | None:
    """log P(classes and cells of the table | learner), or None where there is no closed form.

    Classes: Dirichlet with the prior's pseudo-count (`CLASS_COUNT` where that is 0), or the prior as given.
    Levels: Dirichlet with what smoothing adds to each level. Numbers: normal densities whose mean and variance have a
    normal-inverse-gamma prior around the attribute's own mean and variance; bins at given edges, of equal width or of
    equal weight: Dirichlet over the bins, uniform within a bin, so that densities of both kinds can be compared.
    Missing cells are left out, or levels, as the learner says: compare only learners that say the same.

    Full Bayes: Dirichlet over all cells of the joint table; normal densities with a normal-inverse-Wishart prior that
    says of each number alone what naive Bayes says, so that the two can be compared.

    Knowledge takes the place of all this where it speaks: Dirichlet with its worth times its shares, and a
    normal-inverse-gamma prior around its mean and variance, of which each is worth as many rows as the knowledge.

    Blocks of naive Bayes: the same as full Bayes, of their columns.

    None: another learner, full Bayes (or a block) where cells are missing, a pseudo-count of 0, kernel densities, and
    bins by MDL, which have looked at the classes.

    >>> import likely
    >>> data = likely.summarize({"a": ["u", "v", "u"], "t": ["p", "p", "q"]}, "t")
    >>> round(math.exp(log_evidence(likely.NaiveBayes(), data)), 6)  # 1/2 * 2/3 * 1/4, then 1/2 * 1/3, then 1/2
    0.006944
    """
    if isinstance(learner, FullBayes):
        return _full(learner, summary.canonical())
    if not isinstance(learner, NaiveBayes):
        return None
    summary = summary.canonical().with_classes(known_classes(learner.knowledge, summary.schema))
    if not summary.classes:
        return 0.0  # of no rows at all
    settings = learner.number_settings()
    settings.check(summary.schema)
    check_known(learner.knowledge, summary.schema, settings.kind)
    parts = [_classes(learner, summary)]
    blocks = learner.blocks_by_column(summary.schema)
    for column in summary.schema.attributes:
        statistic = summary.columns[column.name]
        block = blocks.get(column.name, (column.name,))
        part: float | None
        if block[0] != column.name:
            continue  # with the first column of its block
        if len(block) > 1:
            part = _block(learner, summary, block)
        elif isinstance(statistic, Counts):
            part = _levels(categorical(column, statistic, learner.level_settings(column.name, summary)))
        elif not isinstance(statistic, Numbers):
            part = None
        elif settings.kind(column.name) == "gaussian":
            known = known_normals(learner.knowledge, column.name, summary.classes, summary.schema)
            part = _normals(learner, statistic, known)
        elif settings.kind(column.name) == "binned" and settings.rule(column.name) != "mdl":
            tally = read_tally(statistic)
            edges = edges_of(tally, settings.rule(column.name), settings.bin_count, settings.closed)
            part = _bins(binned(column.name, statistic, tally, edges, settings.closed, settings.levels))
        else:
            part = None
        if part is None:
            return None
        parts.append(part)
    return math.fsum(parts) if -math.inf not in parts else -math.inf


def _classes(learner: NaiveBayes | FullBayes, summary: Summary) -> float:
    counts = summary.total.floats().tolist()
    if learner.prior == "uniform" or isinstance(learner.prior, Mapping):
        chances = [float(q) for q in prior_quotients(summary, learner.prior, 0.0)]
        return _sum(n * math.log(p) if p > 0 else -math.inf for n, p in zip(counts, chances, strict=True))
    known = known_prior(learner.knowledge, summary.schema) if isinstance(learner, NaiveBayes) else None
    if known is not None:
        return _dirichlet(counts, [float(s) for s in known.spread(summary.classes)])
    return _dirichlet(counts, [learner.prior_pseudo_count or CLASS_COUNT] * len(counts))


def _sum(parts: object) -> float:
    found = list(parts)  # type: ignore[call-overload]
    return -math.inf if -math.inf in found else math.fsum(found)


def _dirichlet(counts: Sequence[float], extra: Sequence[float], spare: float = 0.0) -> float:
    """log P(these counts, in one order) where the shares have a Dirichlet prior; `spare` belongs to what never came."""
    parts = []
    for n, a in zip(counts, extra, strict=True):
        if n > 0:
            if a <= 0:
                return -math.inf
            parts.append(math.lgamma(a + n) - math.lgamma(a))
    whole = math.fsum(extra) + spare
    return math.fsum(parts) + math.lgamma(whole) - math.lgamma(whole + math.fsum(counts)) if parts else 0.0


def _levels(factor: Categorical) -> float | None:
    """Of one nominal attribute; the shares are what its table adds to the counts."""
    settings, counts = factor.settings, factor.counts
    seen = factor.seen()
    gone = counts.other.floats()[0].tolist()
    parts = []
    for k in range(counts.groups):
        shares = factor.shares(k)
        one = math.fsum(shares) / len(shares) if shares else 0.0
        if not math.fsum(shares) > 0 and (seen[:, k].any() or (settings.missing_is_level and gone[k])):
            return None
        spare = (one if settings.reserve else 0.0) + factor.held(k)
        column, extra = seen[:, k].tolist(), [*shares]
        if settings.missing_is_level:
            column, extra = [*column, gone[k]], [*extra, one]
        parts.append(_dirichlet(column, extra, spare))
    return _sum(parts)


def _bins(factor: Binned) -> float | None:
    base = _levels(factor.levels)
    weights = factor.levels.seen().sum(axis=1).tolist()
    lows, highs = (end.tolist() for end in factor.bounds())
    if base is None:
        return None
    parts = [base]
    for weight, low, high in zip(weights, lows, highs, strict=True):
        if weight > 0:
            if not 0 < high - low < math.inf:
                return None
            parts.append(-weight * math.log(high - low))
    return _sum(parts)


def _normals(learner: NaiveBayes, numbers: Numbers, known: Sequence[NormalKnowledge | None]) -> float | None:
    """Of one numeric attribute, in units of its own spread; 0 where it has none, since it is then left out.

    A class of which something is known: around that mean and variance, as many rows' worth as the knowledge is.
    """
    settings = learner.normal_settings()
    parts = []
    if settings.missing_is_level:
        extra = settings.pseudo_count
        if extra <= 0:
            return None
        there, gone = numbers.weight().floats().tolist(), numbers.other.sum(0).floats().tolist()
        parts += [_dirichlet(pair, [extra, extra]) for pair in zip(there, gone, strict=True)]
    per_class = numbers.moments()
    whole: Moments = tuple(sum(part, Fraction(0)) for part in zip(*per_class, strict=True))  # type: ignore[assignment]
    variance = variance_of(whole, settings.variance) if whole[0] else None
    if not variance and not known:
        return 0.0
    for (weight, first, second), belief in zip(per_class, known or [None] * len(per_class), strict=True):
        if weight > 0:
            if belief is not None:
                centre, unit, prior = belief.mean, belief.variance, (float(belief.worth), float(belief.worth) / 2)
            elif variance:
                centre, unit, prior = mean_of(whole), variance, (MEAN_ROWS, SPREAD_SHAPE)
            else:
                return None  # nothing says how far the values of this class may lie apart
            mean, n = first / weight, float(weight)
            apart, within = (mean - centre) ** 2 / unit, (second - first * mean) / unit
            parts.append(_normal(n, float(apart), float(within), *prior) - n * math.log(root_of(unit)))
    return _sum(parts)


def _normal(n: float, apart: float, within: float, mean_rows: float, spread_shape: float) -> float:
    """log density of n numbers of squared distance `apart` from the prior mean and squares `within` about their own."""
    rows, shape = mean_rows + n, spread_shape + n / 2
    scale = spread_shape + within / 2 + mean_rows * n * apart / (2 * rows)
    return (
        math.lgamma(shape)
        - math.lgamma(spread_shape)
        + spread_shape * math.log(spread_shape)
        - shape * math.log(scale)
        + 0.5 * (math.log(mean_rows) - math.log(rows))
        - 0.5 * n * math.log(2 * math.pi)
    )


def _block(learner: NaiveBayes, summary: Summary, block: tuple[str, ...]) -> float | None:
    """Of attributes in a block, as full Bayes says it of theirs."""
    if learner.missing == "level" or has_bins(
        block, summary.schema, lambda n: learner.number_settings().kind(n) == "binned"
    ):
        return None
    if summary.schema[block[0]].kind != "nominal":
        return _multinormals(scatter(summary, block), summary, learner.variance)
    return _cells(table(summary, learner.block_settings().cells, block)[0], summary)


def _full(learner: FullBayes, summary: Summary) -> float | None:
    """Of full Bayes, where every cell of the table is there."""
    kind = density_kind(summary.schema, learner.density)
    held = summary.more.get("cells")
    if kind == "table" and isinstance(held, Cells) and all(c.kind == "nominal" for c in summary.schema.attributes):
        part = _cells(table(summary, CellSettings(learner.pseudo_count, learner.unseen == "reserve"))[0], summary)
    elif kind == "normal" and "products" in summary.more:
        part = _multinormals(scatter(summary), summary, learner.variance)
    else:
        return None
    return None if part is None else _classes(learner, summary) + part


def _cells(held: JointTable, summary: Summary) -> float | None:
    """Dirichlet over all cells of a joint table, of each class, where no row lacks a cell."""
    if not held.names:
        return 0.0
    extra, counts = float(held.extra), held.counts.floats()
    if extra <= 0 or held.reserve or held.totals() != summary.total.fractions() or held.cells > MOST_CELLS:
        return None
    spare = extra * (held.cells - len(counts))
    return _sum(_dirichlet(column, [extra] * len(column), spare) for column in counts.T.tolist())


def _multinormals(sums: Scatter, summary: Summary, variance: Variance) -> float | None:
    """Normal-inverse-Wishart: the prior scale is diagonal, 2 * SPREAD_SHAPE times each attribute's own variance, with
    the degrees of freedom that leave each variance the inverse gamma of `_normals`. In units of the spreads."""
    total = summary.total.floats()
    whole_weight = np.array([n * sums.one for n in summary.total.fractions()], object)  # exact: may be beyond a double
    if not sums.names or not np.all(sums.weight == whole_weight):
        return None
    whole = sums.whole()
    about = whole.covariances(0, variance)
    kept = [i for i in range(len(sums.names)) if about.variance(i)]
    spread = np.array([root_of(about.variance(i) or Fraction(1)) for i in kept])
    size = len(kept)
    freedom = 2 * SPREAD_SHAPE + size - 1
    parts = []
    for c, n in enumerate(total.tolist()):
        centre = np.array([float(Fraction(whole.first[i, i, 0], whole.weight[i, i, 0])) for i in kept])
        mean = np.array([sums.mean(i, c) or 0.0 for i in kept])
        within = np.array([[_product(sums, i, j, c) for j in kept] for i in kept]).reshape(size, size)
        apart = (mean - centre) / spread
        scale = 2 * SPREAD_SHAPE * np.eye(size) + within / np.outer(spread, spread)
        scale += MEAN_ROWS * n / (MEAN_ROWS + n) * np.outer(apart, apart)
        sign, log_scale = np.linalg.slogdet(scale)
        if sign <= 0 or not math.isfinite(log_scale):
            return None
        parts.append(
            _log_gamma(size, (freedom + n) / 2)
            - _log_gamma(size, freedom / 2)
            + freedom / 2 * size * math.log(2 * SPREAD_SHAPE)
            - (freedom + n) / 2 * float(log_scale)
            + size / 2 * (math.log(MEAN_ROWS) - math.log(MEAN_ROWS + n))
            - n * size / 2 * math.log(math.pi)
            - n * float(np.log(spread).sum())
        )
    return _sum(parts)


def _product(sums: Scatter, i: int, j: int, c: int) -> float:
    """The sum of products about the means within a class."""
    weight, cross = sums.weight[i, j, c], sums.second[i, j, c]
    both = sums.first[i, j, c] * sums.first[j, i, c]
    return float(Fraction(weight * cross - both, weight * sums.one)) if weight else 0.0


def _log_gamma(size: int, a: float) -> float:
    """log of the gamma function of several dimensions."""
    parts = [math.lgamma(a - k / 2) for k in range(size)]
    return size * (size - 1) / 4 * math.log(math.pi) + math.fsum(parts)


# Hypotheses: learners with settings, and how much each is believed: by evidence, or by held-out scores. What
# mixtures have in common; what is done with the weights is in mixture.py.

TOLERANCE = 1e-9
"""How far given weights may be from summing to one."""


@dataclass(frozen=True)
class Hypotheses(Settings, ABC):
    """Settings that every mixture of hypotheses has: the members, and where P(h | data) comes from."""

    members: Sequence[Any] = setting(
        ...,
        'Learners, or plain values such as {"name": "NaiveBayes", "pseudo_count": 0.5}.',
        convert=check_members,
    )
    weights: str | Sequence[float] | Mapping[str, float] = setting(
        "evidence",
        "evidence: P(h | data) in proportion to P(h) P(data | h), where that has a closed form. held-out: weights that "
        "give the mixture the best log score on rows that its members have not seen (stacking; these are not "
        "P(h | data), as they say how useful a member is beside the others). Or a number for each member, or for each "
        "title.",
    )
    prior: tuple[float, ...] | None = setting(None, "P(h) before the data, for 'evidence'; equal where none is given.")
    temperatures: tuple[float, ...] | None = setting(
        None,
        "What the log-odds of each member are multiplied with, where they are to be shrunk (below 1) or stretched.",
    )
    parts: int = setting(
        5,
        "For held-out: rows are dealt by their content to this many parts; each is scored by members that "
        "learned from the others.",
        at_least=2,
        at_most=1000,
        whole=True,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        members = self.members
        if not members:
            raise SettingError(f"{type(self).__name__} has no members. Name at least one learner.")
        if isinstance(self.weights, str):
            if self.weights not in ("evidence", "held-out"):
                raise SettingError(
                    f"weights is {shown(self.weights)}. Say 'evidence', 'held-out', or give a number for each member."
                )
        else:
            given = self._by_title(self.weights) if isinstance(self.weights, Mapping) else self.weights
            object.__setattr__(self, "weights", _distribution(given, len(members), "weights"))
        if self.temperatures is not None:
            object.__setattr__(self, "temperatures", _temperatures(self.temperatures, len(members)))
        if self.prior is not None:
            if self.weights != "evidence":
                raise SettingError("A prior of hypotheses goes with weights='evidence' only.")
            object.__setattr__(self, "prior", _distribution(self.prior, len(members), "prior"))

    @property
    def learners(self) -> tuple[Learner, ...]:
        """The members as learners."""
        return tuple(member_learner(m) for m in self.members)

    @property
    def titles(self) -> tuple[str, ...]:
        """A name for each member: its learner and the settings that are not the usual ones; no two are the same."""
        return learner_titles(self.learners)

    def _by_title(self, weights: Mapping[str, float]) -> list[float]:
        titles = self.titles
        for name in weights:
            if name not in titles:
                raise SettingError(f"There is a weight for {shown(name)}. {nearest(str(name), titles)}")
        return [weights.get(title, 0.0) for title in titles]

    def needs(self, schema: Schema) -> frozenset[str]:
        """All that any member needs."""
        return frozenset().union(*(learner.needs(schema) for learner in self.learners))

    @abstractmethod
    def learn(self, summary: Summary) -> Model:
        """The model; refused where the rows must be seen again, as `likely.fit` does."""

    def weigh_members(self, summary: Summary) -> Learning[Model]:
        """Let every member learn, and weigh them; the rows are seen again where members or weights need it."""
        summary, learners = learnable(summary), self.learners
        begun = dict(enumerate(in_order(learners, lambda own: begin(own, own_sums(own, summary)))))
        done = {h: held for h, held in begun.items() if isinstance(held, Model)}
        self._check_proper(done)
        if self.weights == "held-out":
            rows = yield from keep_rows(summary, self.parts)
            parts = HeldOutParts.of(summary, rows, sorted(self.needs(summary.schema)))
            beliefs = _stacked_weights(self, summary, parts)
        else:
            beliefs = replace(_known_weights(self, summary), searched=len(done) < len(begun))
        found = yield from side_by_side({h: held for h, held in begun.items() if not isinstance(held, Model)})
        self._check_proper(found)
        models = tuple(done[h] if h in done else found[h] for h in begun)
        unread = unread_texts(summary.schema)  # which the mixture says once, of all members
        notes = [f"{t}: {n}" for t, m in zip(beliefs.titles, models, strict=True) for n in m.notes if n not in unread]
        return self.build_model(summary, models, beliefs, (*beliefs.notes, *notes))

    def _check_proper(self, models: Mapping[int, Model]) -> None:
        for h, model in models.items():
            if not model.proper:
                raise self.improper(h)

    def improper(self, member: int) -> SettingError:
        """Mixing needs probabilities."""
        return SettingError(
            f"The scores of {shown(self.titles[member])} are not probabilities, so it cannot be a "
            "hypothesis of a mixture. Leave it out."
        )

    def restore(self, summary: Summary, found: State) -> Model:
        """The model as a search found it."""
        models: list[Model] = []
        for learner, own in zip(self.learners, found["members"], strict=True):
            models.append(restore_member(learner, summary, own))
        weight = read_shares(found["weights"], len(models), "weights of hypotheses")
        figure = read_array(found["figures"], "f", 1, "figures of hypotheses").astype(np.float64)
        require(len(figure) == len(models), "every hypothesis has its figure")
        beliefs = Beliefs(self.titles, weight, figure, True)
        return self.build_model(summary, tuple(models), beliefs, tuple(read_texts(found["notes"], "notes")))

    @abstractmethod
    def build_model(
        self, summary: Summary, models: tuple[Model, ...], beliefs: Beliefs, notes: tuple[str, ...]
    ) -> Model:
        """The model of these hypotheses, each as it was learned."""


def _stacked_weights(learner: Hypotheses, summary: Summary, parts: HeldOutParts) -> Beliefs:
    """The weights with which the mixture scores held-out rows best."""
    places = parts.places()
    if not len(places):
        raise SettingError("There are too few rows to hold some out. Use weights='evidence', or give weights.")

    def own_logs(model: Model, batch: Batch, truth: Ints) -> Matrix:
        """For each row log P(its class | row, h), (rows, 1)."""
        return log_posterior(model, batch, summary.classes)[np.arange(batch.rows), truth][:, None]

    scores = parts.scores(learner.learners, places, own_logs, learner.improper)
    found, figure, notes = stack_scores(scores[:, :, 0].T, parts.rows.weight[places])
    return Beliefs(learner.titles, found, figure, True, notes)


def _known_weights(learner: Hypotheses, summary: Summary) -> Beliefs:
    """Weights as given, or P(h | data) from closed-form evidence."""
    titles = learner.titles
    if isinstance(learner.weights, tuple):
        return Beliefs(titles, np.array(learner.weights), np.full(len(titles), np.nan), False)
    each = [log_evidence(member, summary) for member in learner.learners]
    for title, value in zip(titles, each, strict=True):
        if value is None:
            raise SettingError(
                f"There is no closed form for the evidence of {shown(title)}. "
                "Use weights='held-out', or give a weight for each member."
            )
    figure = np.array(each, np.float64)
    with np.errstate(divide="ignore"):
        score = figure + (0.0 if learner.prior is None else np.log(np.array(learner.prior)))
    if np.isneginf(score).all():
        raise SettingError("These rows are impossible under every hypothesis, so there is no posterior.")
    weight = np.exp(score - score.max())
    return Beliefs(titles, weight / weight.sum(), figure, False)


def _temperatures(values: Sequence[float], size: int) -> tuple[float, ...]:
    given = list(values)
    if len(given) != size:
        raise SettingError(f"temperatures has {len(given)} numbers, but there are {size} members. Give one for each.")
    for value in given:
        if isinstance(value, bool) or not isinstance(value, Real) or not 0 < float(value) < math.inf:
            raise SettingError(f"temperatures holds {shown(value)}. They must be finite numbers above zero.")
    return tuple(float(v) for v in given)


def _distribution(values: Sequence[float], size: int, name: str) -> tuple[float, ...]:
    """Numbers that are probabilities of the members."""
    given = list(values)
    if len(given) != size:
        raise SettingError(f"{name} has {len(given)} numbers, but there are {size} members. Give one for each.")
    for value in given:
        if isinstance(value, bool) or not isinstance(value, Real) or not 0 <= float(value) <= 1:
            raise SettingError(f"{name} holds {shown(value)}. Probabilities of hypotheses lie between 0 and 1.")
    total = math.fsum(float(v) for v in given)
    if abs(total - 1) > TOLERANCE:
        raise SettingError(f"{name} sums to {total:.10g}, not to 1. Correct the numbers.")
    return tuple(float(v) for v in given)
