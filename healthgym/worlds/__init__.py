"""What exists and how it may change: worlds without tasks, tools or rewards."""
