"""`likely app`: tables opened, learned from and downloaded in a browser, on this machine alone.

Thin: a request becomes an order, a worker process makes one call into the library for it, the page shows what came of
it. `orders` says what may be ordered, `work` does it in the process of `worker`, `hands` holds that process, `session`
keeps tables and jobs, `application` says which address does what, `gate` stands before it, `page` is the page itself.
"""
