"""Patients, their illnesses over the years, their coverage, and the people who work on cases."""
