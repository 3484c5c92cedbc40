"""Names for what crosses a border without a type of its own.

Python types neither JSON as it is read, nor the dictionaries that Gymnasium hands on. A signature
that takes or gives such a thing says so by one of these names, and says `Any` nowhere
(`tests/test_borders.py`). What is passed on unread is an `object`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, SupportsFloat, TypeAlias

import gymnasium as gym
from numpy.typing import NDArray

#: A value read from JSON or YAML. Whoever reads it checks it, or has written the file.
Json: TypeAlias = Any
#: An object of JSON, to read.
JsonObject: TypeAlias = Mapping[str, Any]
#: An object of JSON, to build or to keep.
JsonDict: TypeAlias = dict[str, Any]

#: An array whose numbers may be of any type.
AnyArray: TypeAlias = NDArray[Any]

#: An argument that is passed on by name, to what checks it.
Argument: TypeAlias = Any
#: Arguments that make an environment, by name.
Settings: TypeAlias = Mapping[str, Any]

#: A Gymnasium environment, whatever it shows and takes.
AnyEnv: TypeAlias = gym.Env[Any, Any]
#: What `reset` is told besides the seed.
Options: TypeAlias = dict[str, Any]
#: What Gymnasium's methods tell besides the observation.
Info: TypeAlias = dict[str, Any]
#: What a wrapper's `reset` returns.
Begun: TypeAlias = tuple[Any, Info]
#: What a wrapper's `step` returns.
Stepped: TypeAlias = tuple[Any, SupportsFloat, bool, bool, Info]

__all__ = [
    "AnyArray",
    "AnyEnv",
    "Argument",
    "Begun",
    "Info",
    "Json",
    "JsonDict",
    "JsonObject",
    "Options",
    "Settings",
    "Stepped",
]
