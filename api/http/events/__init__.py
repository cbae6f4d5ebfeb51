"""Server-sent events of queries: bounded streams that end with their query, their client, or their time.

Input is the status of a query, read again and again; output is the text of events. The room imports
`answers`, `schemas` and `waiting`. No stream has a thread of its own.
"""
