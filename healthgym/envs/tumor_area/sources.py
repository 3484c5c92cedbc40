"""Real slides: a folder in the layout of CAMELYON16."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path

from healthgym.core.files import marks_of
from healthgym.core.seeding import Split, stable_hash
from healthgym.core.task import Instance, Task, TaskKey
from healthgym.envs.tumor_area.task import (
    SlideInstance,
    SlideStart,
    SlideTaskGenerator,
    TumorReference,
    instruction,
)
from healthgym.errors import DamagedDataError, MissingDataError
from healthgym.worlds.slides.files import FileSlide, draw_mask, open_mask, read_asap
from healthgym.worlds.slides.grid import gold_tiles, tumor_areas

#: Slides that HealthAgentBench uses; they are the test split, in its order.
PUBLISHED = (
    "tumor_076", "tumor_089", "tumor_078", "tumor_026", "tumor_009",
    "tumor_047", "tumor_102", "tumor_058", "tumor_082", "tumor_068",
)  # fmt: skip
_SUFFIXES = {".tif", ".tiff", ".svs", ".ndpi", ".mrxs", ".scn", ".svslide", ".bif", ".vms"}
_ACCESS = (
    "A folder has slides in images/ (or at its top), and for each either masks/NAME_mask.tif with "
    "the value 2 for tumour, or annotations/NAME.xml as ASAP writes it (groups _0 and _1 tumour, "
    "_2 not). CAMELYON16 is CC0: GigaDB doi.org/10.5524/100439, or without an account "
    "s3://camelyon-dataset/CAMELYON16 in the AWS registry of open data."
)


@dataclass(frozen=True, slots=True)
class SlideFiles:
    """A slide and what says where its tumour is.

    Attributes:
        slide: The slide.
        mask: Its mask, or None.
        outlines: Its annotation, or None.
    """

    slide: Path
    mask: Path | None
    outlines: Path | None

    @property
    def paths(self) -> tuple[Path, ...]:
        """All of them that there are."""
        return tuple(each for each in (self.slide, self.mask, self.outlines) if each)


def find_slides(folder: str | Path) -> tuple[SlideFiles, ...]:
    """Return the slides of a folder, by name.

    Raises:
        MissingDataError: If there is no slide, or one has neither mask nor annotation.
    """
    root = Path(folder)
    images = root / "images" if (root / "images").is_dir() else root
    if not images.is_dir():
        raise MissingDataError(f"{root} is not a folder. {_ACCESS}")
    found, lacking = [], []
    for path in sorted(images.iterdir()):
        if path.suffix.lower() not in _SUFFIXES or path.stem.endswith("_mask"):
            continue
        mask = _first(root / "masks", images, name=f"{path.stem}_mask.tif")
        outlines = _first(root / "annotations", images, name=f"{path.stem}.xml")
        if mask is None and outlines is None:
            lacking.append(path.name)
        found.append(SlideFiles(path, mask, outlines))
    if not found:
        raise MissingDataError(f"{images}: there is no slide. {_ACCESS}")
    if lacking:
        raise MissingDataError(
            f"{root}: {', '.join(lacking[:8])} {'has' if len(lacking) == 1 else 'have'} neither "
            f"mask nor annotation; slides without tumour belong elsewhere. {_ACCESS}"
        )
    return tuple(found)


def _first(*folders: Path, name: str) -> Path | None:
    return next((folder / name for folder in folders if (folder / name).is_file()), None)


def reference_of(files: SlideFiles, slide: FileSlide) -> TumorReference:
    """Return where the tumour of a slide is, from its mask or else from its annotation.

    Raises:
        DamagedDataError: If it has no tumour tile, or a file cannot be read.
    """
    if files.mask is not None:
        page = open_mask(files.mask, slide.width, slide.height)
    else:
        assert files.outlines is not None
        page = draw_mask(read_asap(files.outlines), slide.width, slide.height)
    areas = tumor_areas(page, slide.width, slide.height)
    tiles = gold_tiles(areas)
    if not tiles:
        said = files.mask or files.outlines
        raise DamagedDataError(
            f"{said}: no tile of {files.slide.name} has 20 % tumour, so there is nothing to find. "
            f"{_ACCESS}"
        )
    return TumorReference(tiles, {tile: n for tile, (n, _) in areas.items() if n})


@lru_cache(maxsize=16)
def _load(files: SlideFiles, marks: str) -> tuple[FileSlide, TumorReference]:
    """Return a slide and what is known of it; ``marks`` are those of its files."""
    slide = FileSlide(files.slide)
    return slide, reference_of(files, slide)


class FolderGenerator(SlideTaskGenerator):
    """The slides of a folder as tasks.

    The published slides are the test split where the folder has them; others go to a split by a
    hash of their name, six in ten to train, and two each to validation and test.

    Args:
        folder: The folder.
        looks: Looks at high power in an episode.

    Raises:
        MissingDataError: If there is no slide, or one has neither mask nor annotation.
    """

    lasting = False

    name = "tumor-area-files"

    def __init__(self, folder: str | Path, looks: int) -> None:
        self._looks = looks
        self._slides: dict[Split, list[SlideFiles]] = {split: [] for split in Split}
        for files in find_slides(folder):
            self._slides[split_of(files.slide.stem)].append(files)
        order = {name: number for number, name in enumerate(PUBLISHED)}
        self._slides[Split.TEST].sort(
            key=lambda files: (order.get(files.slide.stem, len(order)), files.slide.stem)
        )

    def size(self, split: Split) -> int:
        """Return the number of slides of a split."""
        return len(self._slides[split])

    def draw(self, split: Split, index: int) -> SlideInstance:
        """Return a slide as a task.

        Raises:
            DamagedDataError: If a file cannot be read, or the slide has no tumour tile.
        """
        files = self._slides[split][index]
        slide, reference = _load(files, marks_of(files.paths))
        task = Task(
            TaskKey(self.name, split, index),
            "slide",
            instruction(self._looks),
            {"looks": self._looks},
        )
        start = SlideStart(slide, self._looks, datetime(2024, 3, 4, 9, tzinfo=UTC))
        return Instance(task, reference, start)


def split_of(stem: str) -> Split:
    """Return the split of a slide by its name."""
    if stem in PUBLISHED:
        return Split.TEST
    tenth = stable_hash(f"camelyon16/{stem}") % 10
    if tenth >= 8:
        return Split.TEST
    return Split.VALIDATION if tenth < 2 else Split.TRAIN
