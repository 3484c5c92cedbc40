"""Calls between physicians: what is heard in a turn, and what the other side makes of it."""
