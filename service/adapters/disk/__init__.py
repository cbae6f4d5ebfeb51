"""Files on the local disk: results, scratch directories, locks and durable writes.

Input: names and bytes. Output: files that survive a power failure where that matters; other files are removed
after their process has died. The room imports only the ports and the model.
"""
