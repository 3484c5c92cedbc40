"""The operations handbook: a library of markdown pages, searched, read and overlaid.

``rules`` holds every number that the pages state; ``edition`` fills the written pages with them;
``library`` is what a world carries; ``full`` writes the large edition once and maps it.
"""
