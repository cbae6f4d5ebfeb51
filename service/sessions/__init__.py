"""The sessions of callers: values that their queries share, from requests and statements to a store."""
