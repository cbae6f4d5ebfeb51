"""Connections: bytes come in, messages go to the calls, and their answers go back."""
