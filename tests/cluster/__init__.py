"""Two gateways on a Spark cluster behind one address, beside one process that does all by itself."""
