"""The payer's ten applications."""
