"""Finite probability, exact: joint tables, conditions, independence, information, Bayes' rule, hypotheses.

Numbers given as text ("0.008", "1/3"), whole numbers or fractions are exact, and so is all that follows; floats stay
floats. Imports errors and machinery alone. Inside: distribution and joint (tables of cells), independence (and
information), query, belief, rule and board (Bayes' rule and its working), hypotheses, loss; pages/ (TOML).

>>> from likely.probability import bayes
>>> bayes({"cancer": "0.008"}, {"cancer": "0.98", "no cancer": "0.03"}).p("cancer")
Fraction(49, 235)
"""

from likely.probability.board import Choice
from likely.probability.hypotheses import Hypotheses, bayes_error, bayes_risk
from likely.probability.independence import Independence
from likely.probability.joint import Conditional, Joint, Total
from likely.probability.rule import Bayes, bayes, diagnosis

__all__ = [
    "Bayes",
    "Choice",
    "Conditional",
    "Hypotheses",
    "Independence",
    "Joint",
    "Total",
    "bayes",
    "bayes_error",
    "bayes_risk",
    "diagnosis",
]
