"""Selecting the tumour tiles of a whole slide: what is to be found is in its pixels only."""
