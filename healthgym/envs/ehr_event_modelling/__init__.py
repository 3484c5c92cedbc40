"""Modelling the risk of a first diagnosis from longitudinal health records."""
