"""What pictures of all kinds share: noise that has one value everywhere, and rasters."""
