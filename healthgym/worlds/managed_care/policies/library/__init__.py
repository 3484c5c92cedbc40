"""The policies this package brings, one file for each category of service."""
