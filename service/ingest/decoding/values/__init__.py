"""From the values of records to values of columns: exactly, or not at all.

In come values as JSON, text or Arrow spell them, and the types of columns; out go Arrow arrays, and a
reason for each value that the type cannot hold or that no partition takes. The room imports `streams`.
"""
