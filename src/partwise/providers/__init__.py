"""Ready-made chat models, each behind an extra; import the one you need."""
