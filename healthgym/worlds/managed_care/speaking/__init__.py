"""Other words for what simulated people say: from a model, and held to what was to be said."""
