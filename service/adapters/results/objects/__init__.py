"""Results in an object store, for executors and replicas that share no folder.

Rows come in as objects that executors have written, or from the gateway; chunks and whole streams go out.
Only `bucket` speaks to the store, and each of its calls ends in time. The room imports its neighbours in
`results`.
"""
