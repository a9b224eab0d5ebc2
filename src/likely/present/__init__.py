"""Results as people read them: sentences, tables and charts, for a terminal, Markdown and one offline HTML page.

Imports everything below and computes nothing. document holds the one tree that every face folds over, with its Markdown
and its JSON. Inside: charts/ (SVG), report/ (a builder for each result), page/ (the HTML page); imports go from page to
report to document to charts.
"""
