"""Provider and payer offices, charts, policies and a handbook: one managed-care world."""
