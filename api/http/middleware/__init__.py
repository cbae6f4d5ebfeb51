"""The layers around all routes: who calls, under which name, and what is counted.

In comes any request; out goes the same request with its id and its caller, or a problem, and one line of
the log. Numbers of HTTP and of this process are here too, since these layers count them.
"""
