"""Findings on chest CT: call what is there and what is not."""
