"""The offline page: contents (its sentences and sections), attributes (cards), writing (one file, what-if), scripts.

writing joins all of it into one file that asks nothing of any network.
"""
