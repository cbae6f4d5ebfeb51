"""What the gateway decides, and in which order. Synchronous; knows nothing of HTTP or Spark."""
