"""A provider and a payer at one case: what each sends, the other has to work with."""
