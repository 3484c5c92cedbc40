"""Records of the managed-care world: immutable, and named as the source names them."""
