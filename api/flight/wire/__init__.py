"""The form of messages, values and errors: protobuf, Arrow's types, and Flight's own errors."""
