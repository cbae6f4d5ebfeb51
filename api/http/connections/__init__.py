"""What stands between a socket and the app: how much a client may send or leave unread, and for how long.

In come connections, out go requests whose heads are complete and within bounds. Uses uvicorn, the settings
and the problems of the edge; knows no route.
"""
