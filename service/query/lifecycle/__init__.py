"""The life of a query: accepted, queued, run, recorded, and removed when its result expires.

Input is callers' requests; output is states, results and one `QueryRecord` for each query, whatever happens
to it. The registry of queries, the workers with their fair queue, the timeouts and the presence of this
replica among others live here. The room imports `filtering`.
"""
