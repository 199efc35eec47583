"""User interfaces on slices; each needs its extra."""
