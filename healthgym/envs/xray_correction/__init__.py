"""X-ray report correction: the family."""
