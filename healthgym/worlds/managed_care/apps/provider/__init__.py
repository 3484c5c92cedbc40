"""The provider's five applications."""
