"""Lines of a working as they stand on paper, from fractions that a test writes down."""

from __future__ import annotations

import shlex
from fractions import Fraction as F
from math import prod


def product(name: str, *factors: str) -> str:
    """L(class) as the product of these fractions, unreduced, then reduced, then in four digits."""
    value = prod((F(factor) for factor in factors), start=F(1))
    # On paper 0.28125 becomes 0.2813; a float would be rounded to the even digit.
    end = f"{value} = {float(value) * (1 + 1e-13):.4g}" if value else "0"
    return f"L({name}) = {' × '.join(factors)} = {end}"


def posteriors(**weights: F | float) -> str:
    """The last line of a working: each class's share of the sum, and the largest."""
    total = sum(weights.values())
    shares = ", ".join(f"P({name}) = {float(value / total):.4f}" for name, value in weights.items())
    return f"{shares}: {max(weights, key=lambda name: weights[name])}"


def fit(options: str) -> list[str]:
    """The command that fits q.csv, as m.likely."""
    return ["fit", "q.csv", *shlex.split(options), "-o", "m.likely"]


def explain(row: str, options: str = "--working") -> list[str]:
    return ["explain", "m.likely", *shlex.split(row), *shlex.split(options)]
