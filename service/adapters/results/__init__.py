"""Where the rows of results lie until their time to live ends: in a folder that replicas may share.

Rows come in from the gateway or from the engine, as Arrow messages in files; chunks and whole streams go out.
"""
