"""Prior authorization, utilization management and care management in one managed-care world."""
