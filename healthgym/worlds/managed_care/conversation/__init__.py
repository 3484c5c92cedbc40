"""Talks on the phone: what is said, how it is understood, and who answers."""
