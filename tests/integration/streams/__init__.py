"""Streams that a gateway runs until someone stops them."""
