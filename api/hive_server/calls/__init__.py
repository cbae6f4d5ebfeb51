"""The methods of the protocol: fields of a request come in, fields of an answer go out."""
