"""Densities of what a chest is made of, in HU."""

AIR, FAT, MUSCLE, WATER, BLOOD = -1000.0, -104.0, 52.0, 8.0, 42.0
