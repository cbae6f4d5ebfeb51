"""The log of accepted ingests, and the commit rounds that empty it.

Input: ingests with the files written for them, in one transaction. Output: rounds, one at a time for each
table and branch, their outcome, and lists and sums. The room imports `shared` and `streams`.
"""
