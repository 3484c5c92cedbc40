"""The 87 tools, by the applications they belong to."""
