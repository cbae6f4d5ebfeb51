"""An engine without a gateway, shared by the files of this folder."""
