"""Matching a patient to clinical trials: eligibility computed from one latent clinical model."""
