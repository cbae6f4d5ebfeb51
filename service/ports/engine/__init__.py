"""The engine: it runs statements, streams, and work on its executors."""
