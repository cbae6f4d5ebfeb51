"""Where the gateway listens, by TLS or without, and whom it serves within which bounds."""
