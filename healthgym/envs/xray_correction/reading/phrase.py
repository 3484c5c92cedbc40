"""Reads the words before and after a name into what is said of it.

"Not" denies what follows it in its segment, and nothing else: presence, a state, a change, a place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from healthgym.envs.xray_correction.reading.mention import ATTRIBUTES, Mention
from healthgym.envs.xray_correction.reading.words import Item

_FLAGS = (
    "any",
    "interval",
    "previously",
    "prior",
    "soft",
    "misplaced",
    "bare",
    "many",
    "loose",
    "now",
    "uneven",
    "seeming",
    "across",
    "residual",
)
#: Kinds of what is said of an entity without a value of its own.
_ABOUT = ("loc", "kind", "sign", "near", "path", "beyond", "lead", "infl", "lungs", "rib")
#: What is said before a name in another sense than after it ("apparent", "is apparent").
_BEFORE = ("previously", "seeming")


def mark_denied(item: Item) -> Item:
    """Return an item marked as in what is denied, if it says how something is."""
    return Item(item.text, {**item.features, "denied": "1"}) if item.says(*ATTRIBUTES) else item


class Phrase:
    """Reads the words about mentions: what holds of them, and what does not.

    Args:
        own: Whom the words are about.
        doubt: Called where what follows in the clause is uncertain.
        shared: Whom a verb after a list with "or" speaks of.
        topic: Whom a verb in the plural speaks of.
        denied: Whether the words say what does not hold.
        beside: Whether they stand in the segment with the name.
        after: Whether they stand after the name.
    """

    def __init__(
        self,
        own: Sequence[Mention],
        doubt: Callable[[], None],
        shared: Sequence[Mention] = (),
        topic: Sequence[Mention] = (),
        *,
        denied: bool = False,
        beside: bool = False,
        after: bool = False,
    ) -> None:
        self._after, self._beside = after, beside or after
        self._own, self._doubt = list(own), doubt
        self._shared, self._topic = list(shared), list(topic)
        self._verb = ""
        self._denied = denied
        self._open: dict[str, str] | None = None
        self._before: dict[str, str] | None = None
        self._negated = False
        self._compared = False

    @property
    def denying(self) -> bool:
        """Return whether what is read last is under a denial."""
        return self._denied or self._open is not None

    def _targets(self) -> list[Mention]:
        if self._verb == "many" and self._topic:
            return self._topic
        return self._shared if self._verb and self._shared else self._own

    def read(self, items: Sequence[Item]) -> None:
        """Read items in their order."""
        for number, item in enumerate(items):
            rest = (after for after in items[number + 1 :] if not after.says("interval"))
            following = next(rest, None)
            self._item(item, following)
        if self._negated:
            self._own[0].unread.append("not")

    def _item(self, item: Item, following: Item | None) -> None:
        features = item.features
        if item.says(*_FLAGS) and not (self._after and item.says(*_BEFORE)):
            for mention in self._targets():
                mention.flags.update({k: item.text for k in _FLAGS if k in features})
        if item.says("past", "been"):
            for mention in self._own:
                mention.flags.update({k: item.text for k in ("past", "been") if k in features})
        if not features or item.says("other", "descr", "fract") or self._off(item, following):
            self._own[0].unread.append(item.text)
        elif "hedge" in features:
            for mention in self._own:
                mention.certain = False
            self._doubt()
        elif "cop" in features:
            self._verb = features["cop"]
            for mention in self._own:
                mention.flags["verb"] = item.text
        elif features.get("neg") == "none":
            self._presence(item)
        elif "neg" in features:
            # "Neither low nor increased": without a name, "no" denies how something is.
            if self._negated:
                self._own[0].unread.append(item.text)
            self._negated, self._open = True, None
            if "history" in features:
                for mention in self._targets():
                    mention.flags["history"] = item.text
        elif "pres" in features or "gone" in features:
            self._presence(item)
        elif "previously" in features and self._after:
            self._own[0].unread.append(item.text)
        elif _graded(item, following):
            return
        elif item.says(*ATTRIBUTES, *_ABOUT):
            self._attribute(item, following)

    def _off(self, item: Item, following: Item | None) -> bool:
        """Return whether what follows makes something else of an item, or does not bear it."""
        if item.says("degree"):
            # "Not very enlarged" is enlarged.
            return self._negated or following is None or not following.says("severity")
        if item.says("move") and (following is None or not following.says("prep", "place", "near")):
            # "Passes into the stomach"; but not "passes the stomach".
            return True
        if following is None:
            return False
        if item.text == "over":
            return following.says("count")
        # "Two of the tubes": of how many? "Left of the axilla" is beside it. "Better seen": it is
        # the picture that is better.
        part = item.says("count") or item.features.get("side") in ("left", "right")
        return (part and following.text == "of") or (item.says("than") and following.says("pres"))

    def _attribute(self, item: Item, following: Item | None) -> None:
        foreign = following is not None and (not following.features or following.says("other"))
        if self._after and foreign and item.says("side", "zone"):
            self._own[0].unread.append(item.text)
            return
        targets = self._targets() if item.says("state", "change") else self._own
        if self._compared and item.says("side") and "side" not in targets[0].values:
            # "An effusion, larger on the right": than before, or than on the left?
            targets[0].flags["beside"] = item.text
        self._compared |= item.says("than")
        if self._negated:
            self._negated, self._open = False, {}
            for mention in targets:
                mention.denied.append(self._open)
        elif self._denied and self._open is None:
            self._open = {}
            for mention in targets:
                mention.denied.append(self._open)
        into = self._open
        if "denied" in item.features:
            # "A large rather than a small left effusion": what both share is said, too.
            if self._before is None:
                self._before = {}
                self._own[0].denied.append(self._before)
            into = self._before
        for mention in targets:
            mention.take(item, into, self._after)

    def _presence(self, item: Item) -> None:
        absent = item.says("gone", "neg") or item.features.get("pres") == "no"
        for mention in self._targets():
            if self._negated or self._denied:
                if "gone" in item.features or mention.present is False:
                    mention.unread.append(item.text)
                    continue
                mention.present = absent
                mention.flags["lost"] = item.text
            elif absent:
                if mention.present is False:
                    mention.unread.append(item.text)
                mention.present = False
                mention.flags["absent"] = item.text
            elif mention.flags.keys() & {"absent", "lost"} or (
                mention.present is False and not self._beside
            ):
                # "No pneumothorax, now present."
                mention.unread.append(item.text)
            elif mention.present is None:
                mention.present = True
            if "gone" in item.features:
                mention.flags.update(gone=item.text, lost=item.text, history=item.text)
                mention.restricted = False
        self._negated = False


def _graded(item: Item, following: Item | None) -> bool:
    """Return whether a size is that of a change: "mildly increased", "a minor improvement"."""
    if not item.says("severity") or following is None or not following.says("change"):
        return False
    return item.says("adv") or following.features["change"] in ("worsened", "improved")
