"""How what is said on the phone is taken apart: words, clauses, patterns and their meaning."""
