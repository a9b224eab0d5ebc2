"""How far a model may be trusted: cross-validation, scores with intervals, what attributes tell, troubles, drift.

Imports apply, intake and models. `look`, `compare`, `curve`, `repeats` and `doctor` are what users call.
Inside: crossval/, scores/, attributes/, troubles/, drift/.
"""
