"""What is believed: learners (frozen settings) derive models from summaries; a model is a sum of evidence.

Imports sums and table. `contracts` says what a factor, a model, a learner and a search are; `model` what follows from
scores alone, `one_row` the short way of a single row; shapes/ how all of them look from outside, which is what other
rooms read. `learners` names the family. Inside: factors/ (what one attribute or block says), knowledge/, text/, naive/,
joint/ (full Bayes), dependence/ (pairs), linear/, neighbors/, heldout/ (rows held out in turn), pool/ (several models
weighed by held-out rows).
"""
