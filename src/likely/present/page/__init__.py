"""The offline page: contents (its sections), answers (its own sentences), attributes (cards), what-if, scripts.

writing joins all of it into one file that asks nothing of any network; plotting draws single charts for notebooks.
"""
