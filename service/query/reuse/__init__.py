"""Decides whether two queries ask for the same result, without running them.

In come a request, what the engine said about its text, the rights of its principal and the states of its
tables and views; out comes a key, which is equal only for equal results. The room knows no query's life.
"""
