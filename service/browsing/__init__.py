"""Lists what catalogs have, as far as a principal may know of it. Names come in, entries go out."""
