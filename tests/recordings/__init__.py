"""Recorded streams of real services: what a message must hold of each, told by the raw events alone."""
