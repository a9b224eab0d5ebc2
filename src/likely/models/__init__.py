"""What is believed: learners (frozen settings) derive models from summaries; a model is a sum of evidence.

Imports sums and table. `contracts` says what a factor, a model and a learner are; `model` what follows from scores
alone; shapes/ how all of them look from outside, which is what other rooms read. `registry` names the family. Inside:
factors/ (what one attribute or block says), text/, naive/, dependence/ (pairs), linear/, additive/, text_logistic/,
neighbors/, heldout/ (rows held out in turn), pool/ (several models weighed by held-out rows).
"""
