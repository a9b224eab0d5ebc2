"""How far a model may be trusted: cross-validation, scores with intervals, what attributes tell, troubles, drift.

Imports apply, intake and models. `look`, `compare`, `curve`, `repeats` and `doctor` are what users call; look_sweep is
what a look gathers while rows are scored, trend where a learning curve leads. Inside: crossval/, scores/, attributes/,
troubles/, drift/; imports go from drift and troubles to attributes, from crossval to scores.
"""
