"""Keys of dynamic filters, read from the build's files by PyIceberg and Arrow."""
