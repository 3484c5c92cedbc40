"""Turning raw hospital tables into a MEDS cohort, as a request asks."""

# First of all, since it says which extra is missing where one is.
import healthgym.worlds.etl  # noqa: F401
