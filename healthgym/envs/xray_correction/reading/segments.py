"""Cuts a sentence at its conjunctions and commas, and finds what each segment names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from healthgym.envs.xray_correction.reading.words import Item

#: Joints over which a denial does not reach.
HARD = frozenset({"but", "stop"})
#: Joints that go on a list.
LIST = frozenset({"and", "or", "comma"})


@dataclass(slots=True)
class Segment:
    """The items between two joints.

    Attributes:
        joint: What joins it to what is before it.
        items: Its items.
    """

    joint: str
    items: list[Item] = field(default_factory=list)

    def says(self, *kinds: str) -> bool:
        """Return whether an item has a feature of one of these kinds."""
        return any(item.says(*kinds) for item in self.items)

    @property
    def foreign(self) -> bool:
        """Return whether it speaks of something that is none of the entities."""
        return any(not item.features or item.says("other") for item in self.items)


def cut(items: Sequence[Item]) -> list[Segment]:
    """Return the segments of a sentence."""
    segments = [Segment("stop")]
    for item in items:
        joint = item.features.get("join")
        if item.says("as") and _opening(segments):
            # "Findings consistent with edema" says that it is there.
            denials = [i for segment in segments for i in segment.items if i.says("neg")]
            segments = [Segment("stop", denials)]
            continue
        if item.says("interp"):
            segments.append(Segment("interp", [item]))
            continue
        if joint is not None:
            if segments[-1].items or joint in HARD or joint == "instead":
                segments.append(Segment(joint))
            elif segments[-1].joint == "comma":
                segments[-1].joint = joint
            continue
        if item.text.startswith("without") and item.says("neg") and segments[-1].items:
            segments.append(Segment("with"))
        elif item.text == "nor" and segments[-1].items:
            segments.append(Segment("or"))
        segments[-1].items.append(item)
    for segment, after in pairwise([*segments, Segment("stop")]):
        if not segment.items and segment.joint not in ("stop", "comma") and after.joint == "stop":
            # "No effusion yet", "an effusion or": more was meant than is said.
            segment.items.append(Item(segment.joint, {}))
    segments = [segment for segment in segments if segment.items]
    for first, second in pairwise(segments):
        _share_lungs(first, second)
    return segments


def _share_lungs(first: Segment, second: Segment) -> None:
    """Say of the lungs what follows how far they are expanded, or how clear: "and clear"."""
    if second.joint not in _JOINING or second.says(*_NAMING, *_LIMITING):
        return
    if first.says("head", *_LIMITING) or not (first.says("cop") and first.says("lungs")):
        return
    if not all(item.says("infl", "state", "cop", "fill") for item in second.items):
        return
    of_air, clear = (any(_clear(i) == so for i in second.items if _said(i)) for so in (False, True))
    if of_air != clear and any(_said(i) and _clear(i) == of_air for i in first.items):
        second.items.insert(0, next(item for item in first.items if item.says("lungs")))


def _said(item: Item) -> bool:
    return item.says("infl") or item.features.get("state") == "clear"


def _clear(item: Item) -> bool:
    return item.features.get("state") == "clear"


#: Joints over which the lungs stay what is spoken of.
_JOINING = frozenset({"and", "but", "comma"})
#: What names something of its own.
_NAMING = ("head", "lungs", "rib")
#: What makes a part of the lungs, or what is said of them, less than the whole.
_LIMITING = ("neg", "hedge", "side", "zone")


def named(segment: Segment) -> int | None:
    """Return the place of a segment's first name; one is given by what lungs and ribs are like."""
    items = segment.items
    for number, item in enumerate(items):
        if item.says("head"):
            return number
    for kind, conditions in _IMPLIED.items():
        place = next((n for n, item in enumerate(items) if item.says(kind)), None)
        if place is None:
            continue
        for name, features in conditions.items():
            if any(item.says(*features) for item in items):
                _imply(items, place, name)
                return place
    return None


#: What lungs and ribs are the name of, by what is said of them.
_IMPLIED: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "lungs": {"volumes": ("infl",), "opacity": ("state",)},
    "rib": {"fracture": ("fract", "break", "place")},
}


def _imply(items: list[Item], place: int, name: str) -> None:
    """Make an item the name of an entity; ribs that are intact or broken need no more words."""
    items[place] = Item(items[place].text, {"head": name})
    if name != "fracture":
        return
    whole = [n for n, item in enumerate(items) if item.features.get("place") == "intact"]
    # Beside "intact", "fractured" contradicts it.
    implied = whole or [n for n, item in enumerate(items) if item.says("fract", "break")]
    for number in implied:
        many = {"many": "1"} if items[number].says("many") else {"fill": "1"}
        items[number] = Item(items[number].text, {"pres": "no"} if whole else many)


def opens(segment: Segment) -> bool:
    """Return whether a segment begins something new: "there are three | rather than two tubes"."""
    return segment.says("there") or (segment.joint in HARD and segment.items[0].text == "no")


def dangling(items: Sequence[Item]) -> bool:
    """Return whether a segment ends in a denial of nothing: "the left is not"."""
    return items[-1].features.get("neg") == "not" and any(item.says("side") for item in items)


def series(segments: Sequence[Segment]) -> list[Segment]:
    """Return the segments that go on a list."""
    found = []
    for segment in segments:
        if segment.joint not in LIST:
            break
        found.append(segment)
    return found


def end_of(items: Sequence[Item], head: int, following: int) -> int:
    """Return where the words of one name end, and those of the next in the segment begin."""
    for place in range(following - 1, head, -1):
        if items[place].says("cop", "prep", "verb", "pres"):
            return place + 1
    return head + 1


def _opening(segments: Sequence[Segment]) -> bool:
    """Return whether what is read so far speaks of "findings" and of nothing else."""
    items = [item for segment in segments for item in segment.items]
    return all(
        item.says("find", "fill", "there")
        or item.text in ("is", "are")
        or item.features.get("neg") == "det"
        for item in items
    )
