"""Whole slides: what is seen under the microscope, region by region, synthetic or from files."""
