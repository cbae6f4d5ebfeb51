"""Tables and their files: what reads, writes, changes and maintains them."""
