"""What a reader takes from the pages that an agent can read."""
