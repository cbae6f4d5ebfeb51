"""The layer between a socket and the app: bounds what clients send and leave unread, and for how long.

It turns connections into requests whose heads are complete and within bounds. It uses uvicorn, the settings
and the problems of the edge, and knows no route.
"""
