"""The automatic measurements of the workstation: names, and one line of text each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

from healthgym.core.cache import BuildCache
from healthgym.errors import ToolError
from healthgym.worlds.volumes.grid import VolumeSource
from healthgym.worlds.volumes.survey import Survey, survey

Quantity = Literal[
    "lung_volume",
    "low_attenuation",
    "heart_ratio",
    "pericardial_fluid",
    "pleural_fluid",
    "metal",
    "aortic_calcium",
    "coronary_calcium",
    "hiatal_gas",
    "lymph_node",
    "nodule",
    "ground_glass",
    "consolidation",
    "dense_band",
    "strands",
    "fine_lines",
    "mosaic",
    "airway_wall",
    "airway_size",
]
QUANTITIES: tuple[str, ...] = get_args(Quantity)
NO_LUNGS = (
    "No lungs were found in this volume: it seems to show another part of the body. "
    "view_slice and region_hu work all the same."
)


@dataclass(frozen=True)
class _Reading:
    text: str


#: Lines of text by volume and quantity: the rollouts of a group measure the same scans.
_READINGS: BuildCache[_Reading] = BuildCache(8192)


def measure(source: VolumeSource, quantity: str) -> str:
    """Return a measurement as a line of text.

    Raises:
        ToolError: If no lungs are found, on which all measurements rest.
    """

    def read() -> _Reading:
        at = survey(source)
        if not at.found:
            raise ToolError(NO_LUNGS)
        return _Reading(f"{quantity}: {_READERS[quantity](source, at)}")

    return _READINGS.get((source.fingerprint(), quantity), read).text


def _lung_volume(source: VolumeSource, at: Survey) -> str:
    from healthgym.worlds.volumes import measures

    return f"{measures.lung_volume(source, at):.0f} ml"


def _low_attenuation(source: VolumeSource, at: Survey) -> str:
    from healthgym.worlds.volumes import measures

    return f"{measures.low_attenuation(source, at):.1f} %"


def _heart_ratio(source: VolumeSource, at: Survey) -> str:
    from healthgym.worlds.volumes import measures

    ratio, height = measures.heart_ratio(source, at)
    return f"{ratio:.2f} (at z={height:.0f} mm)"


def _pericardial(source: VolumeSource, at: Survey) -> str:
    from healthgym.worlds.volumes import measures

    return f"{measures.pericardial_fluid(source, at):.0f} ml"


def _pleural(source: VolumeSource, at: Survey) -> str:
    from healthgym.worlds.volumes import measures

    right, left = measures.pleural_fluid(source, at)
    return f"{max(right, left):.0f} mm (right {right:.0f}, left {left:.0f})"


def _metal(source: VolumeSource, at: Survey) -> str:
    from healthgym.worlds.volumes import measures

    return f"{measures.metal(source, at):.0f} mm3"


def _aortic(source: VolumeSource, at: Survey) -> str:
    from healthgym.worlds.volumes import measures

    return f"{measures.calcium(source, at)[0]:.0f} mm3"


def _coronary(source: VolumeSource, at: Survey) -> str:
    from healthgym.worlds.volumes import measures

    return f"{measures.calcium(source, at)[1]:.0f} mm3"


def _hiatal(source: VolumeSource, at: Survey) -> str:
    from healthgym.worlds.volumes import measures

    return f"{measures.hiatal_gas(source, at):.0f} mm"


def _node(source: VolumeSource, at: Survey) -> str:
    from healthgym.worlds.volumes import measures

    return f"{measures.largest_node(source, at):.0f} mm"


def _nodule(source: VolumeSource, at: Survey) -> str:
    from healthgym.worlds.volumes import measures

    return f"{measures.largest_nodule(source, at):.0f} mm"


def _glass(source: VolumeSource, at: Survey) -> str:
    from healthgym.worlds.volumes import measures

    return f"{measures.ground_glass(source, at):.1f} %"


def _consolidation(source: VolumeSource, at: Survey) -> str:
    from healthgym.worlds.volumes import measures

    return f"{measures.consolidation(source, at):.0f} ml"


def _band(source: VolumeSource, at: Survey) -> str:
    from healthgym.worlds.volumes import measures

    return f"{measures.dense_band(source, at):.0f} mm"


def _strands(source: VolumeSource, at: Survey) -> str:
    from healthgym.worlds.volumes import measures

    return f"{measures.strands(source, at):.1f} %"


def _mosaic(source: VolumeSource, at: Survey) -> str:
    from healthgym.worlds.volumes import measures

    return f"{measures.mosaic_spread(source, at):.0f} HU"


def _lines(source: VolumeSource, at: Survey) -> str:
    from healthgym.worlds.volumes import airways

    return f"{airways.fine_lines(source, at):.1f} %"


def _wall(source: VolumeSource, at: Survey) -> str:
    from healthgym.worlds.volumes import airways

    return f"{airways.wall_share(source, at):.2f}"


def _bronchus(source: VolumeSource, at: Survey) -> str:
    from healthgym.worlds.volumes import airways

    widest = airways.widest_bronchus(source, at)
    return f"{widest:.1f} mm (lumen to artery {airways.bronchus_ratio(source, at):.2f})"


_READERS: dict[str, Callable[[VolumeSource, Survey], str]] = {
    "lung_volume": _lung_volume,
    "low_attenuation": _low_attenuation,
    "heart_ratio": _heart_ratio,
    "pericardial_fluid": _pericardial,
    "pleural_fluid": _pleural,
    "metal": _metal,
    "aortic_calcium": _aortic,
    "coronary_calcium": _coronary,
    "hiatal_gas": _hiatal,
    "lymph_node": _node,
    "nodule": _nodule,
    "ground_glass": _glass,
    "consolidation": _consolidation,
    "dense_band": _band,
    "strands": _strands,
    "fine_lines": _lines,
    "mosaic": _mosaic,
    "airway_wall": _wall,
    "airway_size": _bronchus,
}
