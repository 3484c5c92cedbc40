"""Tables of the family: the synthetic vocabulary, and the published pass bars."""
