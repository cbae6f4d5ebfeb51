"""A query's life: taken in, queued, run, recorded, and removed when its result expires.

In come requests of callers; out go states, results and one `QueryRecord` for each query, whatever happens
to it. The registry of queries, the workers with their fair queue, the timeouts and this replica's presence
among others live here. The room imports `filtering`.
"""
