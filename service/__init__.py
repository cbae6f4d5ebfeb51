"""The gateway's decisions and their order. Synchronous; knows nothing of HTTP or Spark."""
