"""What is done with a table and a model: fit, predict, score, regress, count a joint table, explain, decide.

Imports intake and models. Inside: explain/ (ledger, counterfactuals, intervals), decide/ (loss, abstaining, asking),
streams/ (windows, input without end).
"""
