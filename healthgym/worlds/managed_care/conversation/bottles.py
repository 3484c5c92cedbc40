"""What a person tells of their medicines: how they take them, why not, and what the labels say."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import takewhile
from typing import Final

from healthgym.core.records import replace
from healthgym.worlds.managed_care.apps.care_management.evidence import same_medicine
from healthgym.worlds.managed_care.conversation.talk import Talk
from healthgym.worlds.managed_care.conversation.told_before import (
    again,
    asked_again,
    just_told,
    last_told,
)
from healthgym.worlds.managed_care.voices import Disclosure, Part, Topic

_DOSES_OF_A_WEEK: Final = 7


def medicines(talk: Talk, items: tuple[str, ...], parts: tuple[Part, ...]) -> None:
    """Tell of the medicines that are named, or go through the bottles, a few at a time.

    Args:
        talk: The turn.
        items: The medicines that are named.
        parts: What is asked of them besides how they are taken.
    """
    taken = tuple(dosed(talk, told) for told in talk.persona.tells.get(Topic.MEDICATION, ()))
    if not taken:
        none = Disclosure(topic=Topic.MEDICATION, present=False)
        talk.words.append(again(talk, (none,)) + talk.speaker.fixed("medicine.none", ""))
        talk.tell((none,))
        return
    if items:
        _of_some(talk, taken, items, parts)
    else:
        _of_all(talk, taken, parts)


def _of_some(
    talk: Talk, taken: tuple[Disclosure, ...], items: tuple[str, ...], parts: tuple[Part, ...]
) -> None:
    """Tell of the medicines that are named; of what was told already no more than is asked."""
    named = {name: _own(taken, name) for name in items}
    for name, told in named.items():
        if Part.AMOUNT in parts and told is not None and talk.knows(told):
            continue
        if not (Part.HISTORY in parts and _told_history(talk, taken, name)):
            _named_medicine(talk, taken, name)
    if Part.AMOUNT in parts:
        _labels(talk, filter(None, named.values()))
    if Part.OTHERS in parts:
        _besides(talk, taken, [])


def _of_all(talk: Talk, taken: tuple[Disclosure, ...], parts: tuple[Part, ...]) -> None:
    """Go through the bottles from where they were left."""
    left = [told for told in taken if not talk.knows(told)]
    if Part.OTHERS in parts:
        left = _besides(talk, taken, left)
        if not left:
            return
    if not left and Part.AMOUNT in parts:
        _labels(talk, taken)
        return
    if not left:
        asked_again(talk, taken)
        if just_told(talk, taken) and reasons(talk):
            return
        talk.say("known")
        left = list(taken)
    shown = left[: talk.persona.items_at_once + 1]
    for told in shown:
        tell_medicine(talk, told, "")
    if Part.AMOUNT in parts:
        _labels(talk, shown)
    talk.say("medicine.more" if len(left) > len(shown) else "medicine.all")


def _own(taken: Iterable[Disclosure], name: str) -> Disclosure | None:
    """Return what is told of a medicine that is named; None if they have none of the name."""
    return next((told for told in taken if same_medicine(told.item, name)), None)


def _labels(talk: Talk, told: Iterable[Disclosure]) -> None:
    """Read out the doses on some labels, so far as there are any."""
    doses = talk.persona.doses
    read = [f"{_spoken_name(each.item)} {doses[each.item]}" for each in told if each.item in doses]
    if read:
        talk.say("medicine.amounts", doses=", ".join(read))


def _besides(talk: Talk, taken: tuple[Disclosure, ...], left: list[Disclosure]) -> list[Disclosure]:
    """Tell what they take that nobody prescribed, or that there is nothing.

    Returns:
        What they have not told of the other medicines.
    """
    own = [
        told
        for told in taken
        if told.present and told.item not in talk.persona.adherence and told not in talk.told
    ]
    talk.say("medicine.besides" if own else "medicine.nothing_besides")
    for told in own:
        tell_medicine(talk, told, "")
    return [told for told in left if told not in own]


def dosed(talk: Talk, told: Disclosure) -> Disclosure:
    """Return what is told of a medicine, with the doses of a week that are missed.

    Of some medicine something else is told first, and corrected later.
    """
    first = talk.persona.around.takes_back.get(told.item)
    if first is not None and told.item not in talk.mind.corrected:
        return first
    missed = talk.persona.adherence.get(told.item, 0 if told.present else _DOSES_OF_A_WEEK)
    return replace(told, score=missed)


def _told_history(talk: Talk, taken: tuple[Disclosure, ...], name: str) -> bool:
    """Say that they know neither since when nor for what, of a medicine of which they told.

    Returns:
        Whether that is all of the answer.
    """
    told = _own(taken, name)
    if told is None or not talk.knows(told):
        return False
    drug = _spoken_name(told.item)
    talk.words.append(talk.speaker.fixed("medicine.history", told.item, drug=drug))
    talk.tell((told,))
    return True


def _named_medicine(talk: Talk, taken: tuple[Disclosure, ...], name: str) -> None:
    told = _own(taken, name)
    if told is None:
        talk.say("medicine.strange", drug=_spoken_name(name))
        return
    # Who comes back to a medicine that is left out asks why, the first time.
    if talk.knows(told) and _unexplained(talk, told):
        _explain(talk, told)
        return
    tell_medicine(talk, told, again(talk, (told,)))


def reasons(talk: Talk) -> bool:
    """Say why medicines are left out of which that was told; return whether there was a reason.

    Of many medicines as many reasons are given as there are words for in one breath, those of what
    was told last before others; of some that are named, theirs. A reason is given once.
    """
    told = dict.fromkeys((*talk.told, *last_told(talk), *talk.memory.disclosed))
    open_ = [each for each in told if _unexplained(talk, each)]
    named = [each for each in open_ if _is_named(talk, each)]
    for each in (named or open_)[: talk.persona.items_at_once]:
        _explain(talk, each)
    return bool(open_)


def wonders_about(talk: Talk) -> bool:
    """Return whether a medicine is named that is left out, and nobody was told why."""
    return any(_unexplained(talk, told) and _is_named(talk, told) for told in talk.memory.disclosed)


def _is_named(talk: Talk, told: Disclosure) -> bool:
    return _spoken_name(told.item).casefold() in talk.message.casefold()


def told_of_medicines(talk: Talk) -> bool:
    """Return whether something about medicines was told with the last answer."""
    return any(told.topic is Topic.MEDICATION for told in last_told(talk))


def _unexplained(talk: Talk, told: Disclosure) -> bool:
    """Return whether a medicine is left out, and nobody was told why."""
    left_out = not told.present or bool(told.score)
    return (
        told.topic is Topic.MEDICATION and left_out and told.item not in {"", *talk.mind.explained}
    )


def _explain(talk: Talk, told: Disclosure) -> None:
    key = "reason.missed" if told.present else "reason.stopped"
    talk.words.append(talk.speaker.fixed(key, told.item, drug=_spoken_name(told.item)))
    talk.mind = replace(talk.mind, explained=talk.mind.explained | {told.item})
    if told not in talk.told:
        talk.tell((told,))


def tell_medicine(talk: Talk, told: Disclosure, before: str) -> None:
    """Tell how a medicine is taken, after some words."""
    missed = min(told.score or 0, _DOSES_OF_A_WEEK) if told.present else _DOSES_OF_A_WEEK
    drug, rhythm = _spoken_name(told.item), talk.persona.rhythms.get(told.item)
    taken = rhythm if rhythm is not None and not missed else missed
    said = talk.speaker.fixed(f"medicine.{taken}", told.item, drug=drug)
    talk.words.append(before + said)
    talk.tell((told,))


def _spoken_name(medicine: str) -> str:
    """Return the name of a medicine as one says it: without the dose."""
    words = takewhile(lambda word: not word[0].isdigit(), medicine.replace(",", " ").split())
    return " ".join(words) or "that one"
