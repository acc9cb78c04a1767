"""Which groups the objects form, and how many."""
