"""How a model scores a row as plain values, and that form in other languages.

Imports models (contracts and shapes) in `describe` alone, which makes the form. `forms` is the form, `reading` and
`scoring` (with `joint_terms`, `logs`) its reference scorer, `writing` its JSON, `abilities` what a model can do besides
predicting. Inside: languages/.
"""
