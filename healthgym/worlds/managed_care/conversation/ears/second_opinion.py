"""How a sentence sounds, as a second opinion on what the grammar makes of it.

An act that a sentence does not sound like at all is not done, or in doubt where more than a turn
hangs on it. Of acts for which the grammar knows no words, those are heard that a sentence sounds
much like; whoever listens asks about the grave ones. What a question is about is the grammar's
alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from healthgym.worlds.managed_care.conversation.acts import GRAVE, Act, Said
from healthgym.worlds.managed_care.conversation.ears.grammar import Mood, Rule
from healthgym.worlds.managed_care.conversation.ears.questions import FEW, Found, elsewhere
from healthgym.worlds.managed_care.conversation.ears.reading import Reading
from healthgym.worlds.managed_care.conversation.ears.sounds import Sounding
from healthgym.worlds.managed_care.conversation.ears.sounds import sounds as known_sounds

#: Acts that stay in doubt where a sentence sounds less like them than this.
_IN_DOUBT: Final[Mapping[Act, float]] = {
    **dict.fromkeys(sorted(GRAVE), -1.0),
    Act.REQUEST_CONSENT: -2.0,
}
#: How much a sentence has to sound like an act that the grammar did not hear in it: what lets
#: somebody go and what does harm more than others.
_ENOUGH: Final[Mapping[Act, float]] = {
    **dict.fromkeys((Act.GREET, Act.INTRODUCE, Act.ASK_TIME, Act.ASK_WILLINGNESS), 0.5),
    **dict.fromkeys((Act.ACKNOWLEDGE, Act.ASK_HESITATION, Act.ANSWER_CONCERN), 0.5),
    **dict.fromkeys((Act.OFFER_AUTONOMY, Act.OFFER_MATERIAL, Act.OFFER_CALLBACK), 0.5),
    **dict.fromkeys((Act.NEXT_STEPS, Act.EXPLAIN_BENEFIT, Act.EXPLAIN_PROGRAM), 0.5),
    **dict.fromkeys((Act.DISCLOSE_ACCESS, Act.STATE_SHARING, Act.EXPLAIN_VOLUNTARY), 0.5),
    **dict.fromkeys((Act.SUMMARIZE, Act.RESPOND_SAFETY), 0.5),
    Act.ACCEPT_REFUSAL: 1.0,
    Act.VERIFY_IDENTITY: 1.5,  # asked for nothing, people wonder
    **dict.fromkeys(sorted(GRAVE), 1.5),
}
#: What a sentence that sounds less like any of these than this does not do; of a goodbye, too.
_NOT_DONE: Final = -2.0
_TOLD: Final = frozenset(_ENOUGH) - GRAVE | {Act.CLOSE}
#: What is asked in words like no others: "Is it all right if a pharmacist calls?" sounds like no
#: plan, and "how ready do you feel to change something?" like no invitation.
_ASKED_ALL_THE_SAME: Final = frozenset({Act.NEXT_STEPS, Act.ASK_WILLINGNESS})
#: What nobody asks, or names, in a sentence that sounds less like it than this.
_ABOUT: Final = frozenset({Act.ASK_TOPIC, Act.ASK_PERMISSION, Act.NAME_FACT})
_NOT_ASKED: Final = -3.0
#: A question that was not understood.
_DARK: Final = Said(Act.ASK_TOPIC, sure=False)


def weighed(rule: Rule, held: int, sounds: Sounding) -> tuple[int, bool]:
    """Return where a rule still holds, and whether without a doubt.

    Args:
        rule: A rule of an act.
        held: The last words of where it holds by the grammar.
        sounds: What the message sounds like.
    """
    if rule.act in _ASKED_ALL_THE_SAME and rule.mood is Mood.ASK:
        return held, rule.sure
    if rule.act in _TOLD:
        return held & ~sounds.unlike(rule.act, _NOT_DONE), rule.sure
    level = _IN_DOUBT.get(rule.act) if rule.act is not None else None
    if level is None or rule.act is None:
        return held, rule.sure
    return held, rule.sure and bool(held & ~sounds.unlike(rule.act, level))


def overheard(reading: Reading, sounds: Sounding, found: Sequence[Found]) -> Iterator[Found]:
    """Yield the acts that sentences sound like and that the grammar did not hear in them.

    Args:
        reading: The message.
        sounds: What it sounds like.
        found: What the grammar heard.
    """
    if not sounds.spans:
        return
    aside = elsewhere(reading) | reading.words.aside
    clear = [each for each in found if each.said != _DARK]
    for span, (act, worry) in sounds.like(_levels()):
        here = () if span & aside else [each.said.act for each in clear if each.ends & span]
        if not (span & aside or act in here or GRAVE.intersection(here)):
            yield Found(span, Said(act, item=worry, sure=act not in GRAVE))


@cache
def _levels() -> NDArray[np.float64]:
    """Return how much a sentence has to sound like each act to be heard to do it.

    Whoever answers a worry has to answer one, whatever it is that it sounds like.
    """
    names_none = {(Act.ANSWER_CONCERN, "")}
    columns = known_sounds().columns
    return np.array([np.inf if c in names_none else _ENOUGH.get(c[0], np.inf) for c in columns])


def asked(reading: Reading, sounds: Sounding, found: Sequence[Found]) -> Iterator[Found]:
    """Yield what the grammar heard, without what sounds like no question and like no fact.

    What ends with a question mark asks, whatever it sounds like, and about what is no more than
    named before it, as medicines are, be they ever so many.

    Args:
        reading: The message.
        sounds: What it sounds like.
        found: What the grammar heard.
    """
    clauses = reading.clauses
    marked, before = clauses.sentence(clauses.asked), clauses.back(clauses.asked, 1)
    drugs = 0
    for each in found:
        drugs |= each.ends if each.said.act is Act.ASK_TOPIC and each.said.item else 0
    for span in clauses.sentences if before else ():
        if span & before and (span.bit_count() <= FEW or span & drugs):
            marked |= span
    for each in found:
        if each.said.act in _ABOUT and not each.ends & (
            marked | ~sounds.unlike(each.said.act, _NOT_ASKED)
        ):
            continue
        yield each


def understood(found: Sequence[Found], more: Sequence[Found]) -> Iterator[Found]:
    """Yield all that was heard, without questions that were not understood and are none after all.

    Args:
        found: What the grammar heard.
        more: What was overheard.
    """
    clear = 0
    for each in more:
        clear |= each.ends if each.said.sure else 0
    for each in found:
        if not clear or each.ends & ~clear or each.said != _DARK:
            yield each
    yield from more
