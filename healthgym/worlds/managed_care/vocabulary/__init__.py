"""Enumerations of the managed-care world, with the values that the source publishes."""
