"""One answer taken apart: its ledger of evidence, what would change it, how sure it is.

Imports models (contracts and shapes, no concrete model) and decide. `row` reads the row; `explaining` makes a `ledger`
of `pieces` and `odds`; `counterfactual` looks for changes (`candidates`, `fewest_changes`, `single_change`,
`word_counterfactual`); `sureness` draws parameters (`doubt`, `density_doubt`); `marking` and `words` write.
"""
