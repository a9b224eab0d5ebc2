"""Rows dealt to folds, models of total minus fold, and every row judged by a model that never saw it.

Imports intake, the contracts of models and scores/. Inside: dealing, lessons (who learns from what), folds (sums of
each fold), row_folds (rows with their folds), judge, leave_one_out, validate, notes, temperature.
"""
