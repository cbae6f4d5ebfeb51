"""Two gateways on a Spark cluster behind one address, compared with a single process."""
