"""Runs flows over HTTP: the only part that does I/O. One driver blocks, the other one is for asyncio."""
