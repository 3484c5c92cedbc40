"""Computed tomography: chests that are drawn where they are read, and volumes on disk."""
