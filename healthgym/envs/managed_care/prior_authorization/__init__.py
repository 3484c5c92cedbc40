"""Prior authorization, from the provider's desk."""
