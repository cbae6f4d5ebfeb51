"""How the engine is started and supervised, and the catalogs that it reads."""
