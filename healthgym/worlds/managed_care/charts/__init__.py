"""Patients' charts: drawn as facts, rendered as records and documents."""
