"""Results as the protocol has them: Arrow's columns come in, types and written columns go out."""
