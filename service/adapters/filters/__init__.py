"""The filter cache: a Redis-protocol server, with a layer in this process in front of it."""
