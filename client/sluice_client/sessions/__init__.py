"""Sessions: values that the gateway keeps for the queries of one caller.

The values to begin with come in; a session goes out, in which queries are sent.
"""
