"""The log of accepted ingests, and the commit rounds that empty it.

In come ingests with the files that were written for them, in one transaction; out go rounds, one at a time
for each table and branch, their outcome, and lists and sums. The room imports `shared` and `streams`.
"""
