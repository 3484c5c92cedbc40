"""Policies that play, and the evaluation that scores them.

Each module is imported by name, so that scoring a scripted policy loads no HTTP client.
"""
