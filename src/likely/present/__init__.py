"""Results as people read them: sentences, tables and charts, for a terminal, Markdown and one offline HTML page.

Imports everything below and computes nothing. Inside: report/ (sentences and tables), charts/ (SVG), page/ (the page).
"""
