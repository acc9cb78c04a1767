"""Which class an object belongs to."""
