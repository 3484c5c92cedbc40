"""Chest radiographs: a parametric thorax, its projections, files, and measurements of pixels."""
