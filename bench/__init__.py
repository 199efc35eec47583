"""What partwise costs, beside its peers and against its budgets: one question per file, `python -m bench` for all."""
