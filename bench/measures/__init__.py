"""One module a measure: measure(scale, results) returns the fields of its entry."""
