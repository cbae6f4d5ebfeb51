"""Every error of the gateway, named for what the caller did or for the part that is down.

The errors form a tree, so that a handler can catch a general or a specific class: `gateway_error` has its
roots, and each other module the errors of one area. The room imports the model alone.
"""
