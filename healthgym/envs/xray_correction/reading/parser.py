"""From items to mentions: whose side, size and place a word gives, and how far a denial reaches.

A sentence is cut at conjunctions and commas into segments. A segment with the name of an entity
speaks of it; one without adds to what the sentence spoke of last. What is said before a name, or
after it, belongs to it; a verb in the plural speaks of all names before it. "No" denies that
something is there, and reaches along a list up to the first name with words of its own; "not"
denies what follows it in its segment, and nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence

from healthgym.envs.xray_correction.reading.mention import Mention
from healthgym.envs.xray_correction.reading.phrase import Phrase, mark_denied
from healthgym.envs.xray_correction.reading.segments import (
    HARD,
    LIST,
    Segment,
    dangling,
    end_of,
    named,
    opens,
    series,
)
from healthgym.envs.xray_correction.reading.words import Item

#: Kinds of words that say nothing by themselves.
_EMPTY = ("fill", "prep", "verb")


class Parser:
    """Reads the segments of one sentence.

    Attributes:
        mentions: What the sentence speaks of, in its order.
        unread: Words that belong to none of it.
    """

    def __init__(self) -> None:
        self.mentions: list[Mention] = []
        self.unread: list[str] = []
        self._topic: list[Mention] = []
        self._carried: list[Item] = []
        self._common: Item | None = None
        self._elsewhere = False
        self._negative = False
        self._denying = False
        self._uncertain = False
        self._silent = False

    def read(self, segments: Sequence[Segment]) -> None:
        """Read the segments of a sentence."""
        for number, segment in enumerate(segments):
            hard = segment.joint in HARD
            if hard:
                self._negative = self._silent = self._uncertain = False
            if self._restates(segment):
                segment = Segment("comma", segment.items[1:])
            self._silent |= segment.joint == "interp"
            if self._silent:
                # What it may mean, not what is seen.
                self._leave(segment.items)
                continue
            head = named(segment)
            if head is None and segment.foreign:
                self._pass_over(segment)
            elif head is None and self._elsewhere:
                self._leave(segment.items)
            elif head is None and (not self._topic or self._carried or opens(segment)):
                self._carry(segment, last=number == len(segments) - 1)
            elif head is None:
                self._continue(segment)
            else:
                disjoint = any(s.joint == "or" for s in series(segments[number + 1 :]))
                self._begin(segment, head, disjoint)
        self._leave(self._carried)

    def _restates(self, segment: Segment) -> bool:
        """Return whether what a finding is consistent with is that finding: "low, as in ..."."""
        items = segment.items
        head = named(segment) if segment.joint == "interp" and items[0].says("as") else None
        if head is None or not self._topic:
            return False
        return items[head].features["head"] == self._topic[-1].entity

    # -- segments without a name -------------------------------------------------------------

    def _pass_over(self, segment: Segment) -> None:
        """Leave what is said of something that is no entity; a list's denial reaches beyond it."""
        items = segment.items
        # "... and the vessels are normal" speaks of both where the verb is a plural, or where
        # there is none: "heart size and vessels within normal limits".
        verb = next((n for n, i in enumerate(items) if i.features.get("cop") == "many"), None)
        if verb is None and self._topic and not self._topic[-1].values:
            verb = _trailing_state(items)
        if segment.joint not in LIST or not self._topic:
            verb = None
        if verb is not None:
            Phrase(self._topic, self._doubt).read(items[verb:])
        self._negative |= any(item.features.get("neg") == "det" for item in items)
        self._elsewhere = verb is None
        self._leave([*self._carried, *items])
        self._carried = []

    def _carry(self, segment: Segment, last: bool) -> None:
        """Keep what comes before any name for the name that follows."""
        denied = segment.joint == "instead"
        ending = segment.items[-1]
        if ending.features.get("neg") == "not" or ending.says("previously"):
            # "Prior, the heart was normal": not said of a name.
            self.unread.append(ending.text)
        for item in segment.items:
            if item.features.get("neg") == "not":
                denied = True
            else:
                self._carried.append(mark_denied(item) if denied else item)
        if last:
            # "..., or there is": whatever is meant, it is said.
            self.unread += [item.text for item in self._carried if item.says("there")]
            self._leave(self._carried)
            self._carried = []

    def _continue(self, segment: Segment) -> None:
        """Add a segment to what the sentence spoke of last."""
        several = segment.says("cop") or segment.joint == "which"
        targets = self._topic if several else self._topic[-1:]
        if segment.joint == "which":
            targets = self._topic[-1:]
        items = segment.items
        if segment.says("neg") and any(i.features.get("neg") == "none" for i in items):
            self._deny_rest(items)
        elif dangling(items):
            self._deny_rest(items[:-1])
            if items[-1].says("history"):
                self.mentions[-1].flags["history"] = items[-1].text
        else:
            # "Has not increased or decreased."
            denied = segment.joint == "instead" or (segment.joint == "or" and self._denying)
            phrase = Phrase(targets, self._doubt, denied=denied)
            phrase.read(items)
            self._denying = phrase.denying

    def _deny_rest(self, items: Sequence[Item]) -> None:
        """Read "none on the left", "the left is not": the same thing is not there."""
        last = self._topic[-1]
        if last.present is None and not last.values and not last.flags.keys() - {"one"}:
            mention = last
        else:
            mention = Mention(last.entity)
            if last.values.get("state") == "elevated":
                mention.values["state"] = "elevated"
            self.mentions.append(mention)
        mention.present = False
        kept = [item for item in items if item.features.get("neg") != "none"]
        Phrase([mention], self._doubt).read(kept)

    # -- segments with a name ----------------------------------------------------------------

    def _begin(self, segment: Segment, head: int, disjoint: bool) -> None:
        """Read a segment that names an entity, or several."""
        if segment.joint == "instead" and not self._carried:
            self._leave(segment.items)
            return
        self._elsewhere = False
        own = segment.items[:head]
        if segment.joint == "instead":
            own = [mark_denied(item) for item in own]
        items = [*self._carried, *own, *segment.items[head:]]
        head += len(self._carried)
        self._carried = []
        while True:
            following = [n for n in range(head + 1, len(items)) if items[n].says("head")]
            end = following[0] if following else len(items)
            end = end_of(items, head, end) if following else end
            self._name(segment.joint, items[:head], items[head], items[head + 1 : end], disjoint)
            if not following:
                return
            items, head = items[end:], following[0] - end
            segment = Segment("and")

    def _name(
        self,
        joint: str,
        before: Sequence[Item],
        head: Item,
        after: Sequence[Item],
        disjoint: bool,
    ) -> None:
        mention = Mention(head.features["head"])
        own = [item for item in before if item.says("neg")]
        self._negative = self._reaches(joint, before, bool(own), disjoint)
        if self._negative:
            mention.present = False
        if self._uncertain:
            mention.certain = False
        self.mentions.append(mention)
        together = joint in LIST and bool(self._topic) and "verb" not in self._topic[-1].flags
        self._topic = [*self._topic, mention] if together else [mention]
        self._common = self._common if together else None
        if self._common is not None:
            Phrase([mention], self._doubt, beside=True).read([self._common])
        about = Phrase([mention], self._doubt, beside=True)
        about.read([item for item in before if not item.says("neg")])
        for item in before:
            if item.says("change", "gone") and item.text.endswith((" in", " of")):
                self._common = item
        for item in before:
            if item.says("there"):
                mention.flags["verb"] = "there"
            kinds = ("history", "loose") if item.says("neg") else ()
            mention.flags.update({kind: item.text for kind in kinds if item.says(kind)})
        if len(own) > 1 or any(item.features["neg"] != "det" for item in own):
            # Twice denied, or not in a way that a name can be.
            mention.unread += [item.text for item in own]
        if joint == "or":
            mention.flags["or"] = joint
        if head.says("one"):
            mention.flags["one"] = head.text
        if any(item.text == "the" for item in before) or "previously" in mention.flags:
            mention.restricted = False
        implied = Item(head.text, {k: v for k, v in head.features.items() if k not in _HEAD})
        shared = self._topic if joint == "or" else [mention]
        phrase = Phrase([mention], self._doubt, shared, self._topic, after=True)
        phrase.read([*([implied] if implied.features else []), *after])
        self._denying = phrase.denying

    def _reaches(self, joint: str, before: Sequence[Item], own: bool, disjoint: bool) -> bool:
        """Return whether a name is under a "no": its own, or that of the list it is in."""
        if own:
            return any(item.features.get("neg") == "det" for item in before if item.says("neg"))
        if not self._negative or joint not in LIST:
            return False
        if joint == "or" or disjoint:
            return not any(item.says("there") for item in before)
        fresh = ("there", "side", "severity", "count", "change", "zone")
        return not any(item.says(*fresh) or item.text in _ARTICLES for item in before)

    def _leave(self, items: Sequence[Item]) -> None:
        self.unread += [item.text for item in items if not item.says(*_EMPTY, "cop", "there")]

    def _doubt(self) -> None:
        """Take what follows in the clause as uncertain."""
        self._uncertain = True


_ARTICLES = frozenset({"a", "an", "the"})
_HEAD = frozenset({"head", "one"})


def _trailing_state(items: Sequence[Item]) -> int | None:
    """Return where a segment ends in what something is like, if it does."""
    states = (number for number, item in enumerate(items) if item.says("state"))
    place = next(states, None)
    if not place or not all(item.says("state", *_EMPTY) for item in items[place:]):
        return None
    return place
