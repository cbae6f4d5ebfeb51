"""Numbers that are read when somebody asks for `/metrics`: each collector knows one part, and asks nobody.

What is counted as it passes is in `service.adapters.meters` and its like.
"""
