"""The second tier of sandboxed code: CPython, numpy and polars in a bubblewrap container."""

from healthgym.worlds.workspace.box.box import Box
from healthgym.worlds.workspace.box.command import BoxLimits
from healthgym.worlds.workspace.box.probes import open_box, probe
from healthgym.worlds.workspace.box.running import BoxRun

__all__ = ["Box", "BoxLimits", "BoxRun", "open_box", "probe"]
