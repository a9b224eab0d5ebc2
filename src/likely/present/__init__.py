"""Results as people read them: sentences, tables and charts, for a terminal, Markdown and one offline HTML page.

Imports everything below and computes nothing. sections holds the records that every face lays out (tables, sections,
reports), words how numbers and names are written, markdown one face. Inside: charts/ (SVG), report/ (a builder for each
result), page/ (the HTML page); imports go from page to report to charts.
"""
