"""Answers a query with the result of an equal one: an earlier one, or one that runs now.

The lower half decides whether two queries ask for the same result, without running them. In come a request,
the engine's facts about its text, the rights of its principal, and the states of its tables and views. Out
comes a key, which is equal only for equal results. The upper half keeps results under these keys, and lets
equal queries wait for one of them. The room imports `registry`.
"""
