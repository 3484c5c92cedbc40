"""Training one small model in every seat of a game at once, with torch alone.

A loop to read and to copy, for a processor: the conversation of each seat stays in the key-value
cache between its turns, and all seats of all games that have the turn are answered together. What
is played is any family whose turns pass from role to role.
"""
