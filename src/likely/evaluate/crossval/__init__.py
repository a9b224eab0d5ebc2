"""Rows dealt to folds, models of total minus fold, and every row judged by a model that never saw it."""
