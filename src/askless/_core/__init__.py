"""The compiled core: loops over codes, counts and prices.

Arrays go in and arrays come out. Nothing here knows a name, a file, a table or an
estimator, and nothing here checks its input: that was done when the problem was built.
"""
