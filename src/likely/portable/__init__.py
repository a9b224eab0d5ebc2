"""How a model scores a row, taken elsewhere: its score over the levels that rows are read with, in other languages.

Imports models (contracts and shapes). `describe` makes the score that languages fold over, `writing` its JSON;
`reading` and `scoring` (with `joint_terms`, `logs`) score rows by that JSON in plain Python, `abilities` says what a
model can do besides predicting. Inside: languages/.
"""
