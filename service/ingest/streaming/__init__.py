"""Streams: micro-batches that each are an ingest.

In come requests for streams, and the micro-batches of their sources; out go ingests. `StreamService` stores
what should run, `StreamRunner` runs it in this replica, and a `StreamRun` makes ingests of one stream's
batches. The room imports the other rooms of ingests.
"""
