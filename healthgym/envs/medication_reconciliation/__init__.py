"""Medication reconciliation at discharge: two clinicians, half a record each, one list."""
