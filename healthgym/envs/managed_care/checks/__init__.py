"""What the source benchmark checks at the end of an episode, as functions over the world."""
