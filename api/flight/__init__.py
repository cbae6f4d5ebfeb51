"""Arrow Flight SQL: statements over gRPC, with rows in Arrow.

A call comes in with a command in protobuf. Its caller is found as for HTTP, and the gateway answers it in
this process. Rows go out as the chunks of the result, and errors as Flight's own, with the stable code of the
error and without a traceback. May import the HTTP edge, and what all SQL protocols share.
"""
