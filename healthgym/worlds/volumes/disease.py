"""What is wrong with a chest, in numbers a scene can be drawn from."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from healthgym.worlds.volumes.shapes import Blob, Point


class Finding(StrEnum):
    """The 18 findings of CT-RATE, by its names and in its order."""

    MEDICAL_MATERIAL = "Medical material"
    ARTERIAL_CALCIFICATION = "Arterial wall calcification"
    CARDIOMEGALY = "Cardiomegaly"
    PERICARDIAL_EFFUSION = "Pericardial effusion"
    CORONARY_CALCIFICATION = "Coronary artery wall calcification"
    HIATAL_HERNIA = "Hiatal hernia"
    LYMPHADENOPATHY = "Lymphadenopathy"
    EMPHYSEMA = "Emphysema"
    ATELECTASIS = "Atelectasis"
    NODULE = "Lung nodule"
    OPACITY = "Lung opacity"
    FIBROSIS = "Pulmonary fibrotic sequela"
    PLEURAL_EFFUSION = "Pleural effusion"
    MOSAIC = "Mosaic attenuation pattern"
    PERIBRONCHIAL = "Peribronchial thickening"
    CONSOLIDATION = "Consolidation"
    BRONCHIECTASIS = "Bronchiectasis"
    SEPTAL = "Interlobular septal thickening"


@dataclass(frozen=True, slots=True)
class Solid:
    """A lesion of one density.

    Attributes:
        blob: Its shape.
        density: In HU.
        edge: Width of its border, in mm.
        cover: How much of the tissue it replaces, 0 to 1.
    """

    blob: Blob
    density: float
    edge: float = 1.2
    cover: float = 1.0


@dataclass(frozen=True, slots=True)
class Line:
    """A tube-shaped thing of one density: a lead, a plaque, a scar.

    Attributes:
        points: Its course, in mm.
        radius: In mm.
        density: In HU.
    """

    points: tuple[Point, ...]
    radius: float
    density: float


@dataclass(frozen=True, slots=True)
class Plate:
    """A band of collapsed lung.

    Attributes:
        centre: In mm.
        normal: Unit vector across the band.
        thickness: In mm.
        radius: How far it reaches, in mm.
        density: In HU.
    """

    centre: Point
    normal: Point
    thickness: float
    radius: float
    density: float


@dataclass(frozen=True, slots=True)
class Disease:
    """All that differs from a healthy chest; the defaults are health.

    Attributes:
        heart_ratio: Width of the heart relative to the inner width of the thorax.
        pericardial: Thickness of pericardial fluid, in mm.
        pleural: Thickness of pleural fluid on the right and on the left, in mm.
        hernia: Radius of herniated stomach, in mm.
        hernia_gas: Share of its height that is gas.
        oesophageal_gas: Radius of gas in the oesophagus, in mm.
        emphysema: Share of lung lobules destroyed at the apices.
        emphysema_reach: How far down they go, 0 (apices only) to 1 (everywhere).
        mosaic: Difference between the lobules of a mosaic, in HU.
        septal: Density of thickened septa above lung, in HU.
        dependent: Density of dependent lung above the rest, in HU.
        wall: Thickness of bronchial walls relative to ordinary ones.
        dilated: Width of the airways of one lobe relative to ordinary ones.
        lobe: Which lobe, signed by side.
        glass: Ground-glass patches; their density is added to the lung's.
        dense: Consolidations.
        plates: Bands of atelectasis.
        nodules: Nodules, and calcified granulomas.
        nodes: Lymph nodes of all sizes.
        scars: Fibrous bands.
        calcium: Plaques and other calcifications.
        devices: Medical material.
        boxes: Medical material that is not a line.
    """

    heart_ratio: float = 0.44
    pericardial: float = 1.5
    pleural: tuple[float, float] = (0.0, 0.0)
    hernia: float = 0.0
    hernia_gas: float = 0.5
    oesophageal_gas: float = 2.2
    emphysema: float = 0.0
    emphysema_reach: float = 0.5
    mosaic: float = 0.0
    septal: float = 0.0
    dependent: float = 0.0
    wall: float = 1.0
    dilated: float = 1.0
    lobe: int = 0
    glass: tuple[Solid, ...] = ()
    dense: tuple[Solid, ...] = ()
    plates: tuple[Plate, ...] = ()
    nodules: tuple[Solid, ...] = ()
    nodes: tuple[Solid, ...] = ()
    scars: tuple[Line, ...] = ()
    calcium: tuple[Line, ...] = ()
    devices: tuple[Line, ...] = ()
    boxes: tuple[Solid, ...] = field(default=())
