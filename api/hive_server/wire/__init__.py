"""The binary form of messages: bytes to fields and back, within bounds. It knows no method."""
