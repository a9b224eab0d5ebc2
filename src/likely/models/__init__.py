"""What is believed: learners (frozen settings) derive models from summaries; a model is a sum of evidence.

Imports sums and table. `model` defines scoring, once; `learners` names the family. Inside: factors/ (what one
attribute or block says), knowledge/, heldout/ (candidates judged on rows held out), text/, naive/, joint/ (full Bayes),
dependence/ (pairs), linear/, neighbors/, pool/ (several models as one).
"""
