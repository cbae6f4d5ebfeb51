"""Speaks HiveServer2's Thrift protocol, so that clients of Hive and Spark SQL connect as they are.

Messages come in over a port of their own or over HTTP, and leave with columns that are written from Arrow's
buffers. `api.sql_protocols` does the work. `wire` is the binary form of messages, `transport`
the connections, `calls` the methods of the protocol, and `rows` the results.
"""
