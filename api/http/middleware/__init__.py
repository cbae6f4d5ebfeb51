"""The layers around all routes: authentication, request ids, the request log, and HTTP metrics.

A request leaves them with its id and its caller, or with a problem, and one line in the log. The metrics of
HTTP and of this process are here too, since these layers count them.
"""
