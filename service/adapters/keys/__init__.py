"""Reads keys of dynamic filters from the build's files, with PyIceberg and Arrow."""
