"""Files on the local disk: results, scratch directories, locks and durable writes.

In come names and bytes; out go files that survive a power failure where that matters, and that are removed
after their process has died where it does not. The room imports only the ports and the model.
"""
