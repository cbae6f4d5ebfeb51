"""Records that are sent to a gateway over HTTP, and the files that lie in the tables afterwards."""
