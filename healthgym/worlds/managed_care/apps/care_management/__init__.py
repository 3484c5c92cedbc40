"""Care management's five applications."""
