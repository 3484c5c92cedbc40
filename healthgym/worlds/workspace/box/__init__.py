"""The second tier of sandboxed code: CPython, numpy and polars in a bubblewrap container."""

from healthgym.worlds.workspace.box.box import Box, BoxRun
from healthgym.worlds.workspace.box.command import BoxLimits
from healthgym.worlds.workspace.box.probes import open_box, probe

__all__ = ["Box", "BoxLimits", "BoxRun", "open_box", "probe"]
