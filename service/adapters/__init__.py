"""One outside system per module; each implements a port of `service.ports`."""
