"""Login, sessions, statements and listings, which all servers of SQL protocols share.

A server gets credentials, texts and names from its clients, and brings back columns of Arrow, or failures of
one code, one SQLSTATE and one sentence. The modules here ask the gateway in this process. They may import the
HTTP edge, but no server of a protocol.
"""
