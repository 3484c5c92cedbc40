"""A payer's review of a request, from any of five stages to the letter."""
