"""Whether a free text claims what neither the chart nor the person says.

A claim holds if the chart has it, by a code or in words, or the person said it, in words or by an
answer. What is denied, asked or feared claims nothing, nor does a word that stands nowhere and
names neither an illness nor a trouble: such words were far oftener honest than false.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

from healthgym.envs.managed_care.care_management.claims import (
    MARKS,
    SENTENCE,
    Claim,
    Said,
    Stance,
    lexicon,
    medicine_names,
)
from healthgym.envs.managed_care.care_management.clauses import Speaks
from healthgym.envs.managed_care.care_management.on_file import seen_of
from healthgym.envs.managed_care.care_management.taken_for_granted import (
    NOTHING,
    taken_for_granted,
)
from healthgym.envs.managed_care.care_management.talk import Talk, plain, quotations, quoted_from
from healthgym.envs.managed_care.care_management.unasked import without_lists
from healthgym.worlds.managed_care.apps.care_management.evidence import Evidence, rules
from healthgym.worlds.managed_care.borne_out import Strange
from healthgym.worlds.managed_care.charts.chart import PatientChart
from healthgym.worlds.managed_care.charts.knowledge import brands_of
from healthgym.worlds.managed_care.claim_words import everyday
from healthgym.worlds.managed_care.control import controls
from healthgym.worlds.managed_care.conversation.ears.grammar import grammar
from healthgym.worlds.managed_care.covered import uncovered
from healthgym.worlds.managed_care.records.care import CMReferral
from healthgym.worlds.managed_care.seen import Seen
from healthgym.worlds.managed_care.short_forms import known_short
from healthgym.worlds.managed_care.stated import stated
from healthgym.worlds.managed_care.vocabulary.care import TerminationReason
from healthgym.worlds.managed_care.voices import Topic
from healthgym.worlds.managed_care.word_forms import form

_WORD = re.compile(r"[a-z]{3,}")
#: What a language looks like in "English; the record prefers Spanish", and what else does.
_NAME = re.compile(r"\b[A-Z][a-z]{2,}")
_NO_LANGUAGE = frozenset(
    {"calls", "chart", "her", "his", "prefers", "record", "she", "speaks", "the"}
)
#: Words that join others and tell nothing.
_JOINING = frozenset(
    {"and", "are", "but", "for", "from", "her", "him", "his", "its", "not", "our", "she", "the"}
    | {"their", "they", "was", "with", "you"}
)
#: Letters of a word that tells something once the person has used it.
_LEAST_LETTERS = 4
#: Endings of forms of a word.
_ENDINGS = ("s", "es", "d", "ed", "ing", "ly")
#: Ways to reach somebody other than a telephone.
_OTHER_WAYS = frozenset(
    {"email", "fax", "letter", "letters", "mail", "message", "messages", "portal", "post", "sms"}
    | {"text", "texts", "video", "visit", "visits"}
)
#: That something is taken, and who may add a medicine.
_TAKES = re.compile(r"\b(?:take|start|use|try|add|buy|swallow)(?:s|ing)?\b")
_PRESCRIBERS = re.compile(
    r"\b(?:dr|doctors?|prescri\w+|pharmac\w+|pcp|practice|physicians?|specialists?|clinic|nurse)\b"
)
#: Points from which on an instrument says mild or worse.
_MILD = 5
#: Quotations are looked up by themselves.
_UNQUOTED = re.compile(r"[\"“][^\"“”]*[\"”]")
#: Fewest words in quotation marks that are a quotation, and no name.
_QUOTED = 3
#: The same in any marks, apostrophes within left where they are.
_QUOTES = ('"', "'", "\N{LEFT DOUBLE QUOTATION MARK}", "\N{LEFT SINGLE QUOTATION MARK}")
_SAID = re.compile(
    r"[\"\u201c]([^\"\u201c\u201d\n]+)[\"\u201d]|"
    r"(?<![\w'])['\u2018](?=\w)((?:[^'\n]|(?<=\w)'(?=\w))+)'(?!\w)"
)
#: How notes in short say that something is possible: "?steroids".
_QUERY = re.compile(r"(?<![\w?])\?(?=[A-Za-z])")


@dataclass(frozen=True)
class Witness:
    """What chart and person have said, against which free texts are read.

    Attributes:
        chart: The chart.
        referral: The referral.
        known: What was told, by subject.
        talk: The calls.
        label: What the person is referred with, as the instruction calls it.
    """

    chart: PatientChart
    referral: CMReferral
    known: Evidence
    talk: Talk
    label: str = ""

    def unfounded(self, *texts: str, suspected: bool = False) -> Iterator[str]:
        """Yield what texts claim, or quote, that nobody said.

        Args:
            texts: The texts.
            suspected: Whether they say what is only suspected: then of what lives make hard
                anything may be said, and of illness and deeds nothing.
        """
        for one in filter(None, texts):
            written = _QUERY.sub("possible ", one) if "?" in one else one
            text, rest = self.unquoted(written), without_lists(written)
            for said in lexicon().found(rest):
                claim = said.claim
                lives = suspected and bool(claim.topics - {Topic.SAFETY})
                if said.stance is Stance.CLAIMED and not lives and not self._holds(said):
                    yield f"{claim.name} was not told of"
            for said in lexicon().found(written):
                if said.stance is Stance.DENIED and self._in_danger(said.claim):
                    yield f"{said.claim.name} was told of"
            yield from (f"{name} is not known" for name in self._strange(text))
            for quote in quotations(text):  # those that somebody said are out by now
                if len(quote.split()) >= _QUOTED:
                    yield f"nobody said {quote[:60]!r}"
            if not (suspected and form("perhaps").search(text.lower())):
                told = _UNQUOTED.sub(" ", without_lists(text))
                doubted = uncovered(told, self._seen, facts=False)
                yield from (each for each in doubted if not isinstance(each, Strange))
            yield from self._belied(text)
        yield from self.presumed(*texts, speaks=Speaks.TELLS)

    def presumed(self, *texts: str, speaks: Speaks) -> Iterator[str]:
        """Yield what texts take for granted that nobody said, whatever they plan, ask or suppose.

        Args:
            texts: The texts.
            speaks: How they speak.
        """
        for text in map(self.unquoted, texts):
            granted = taken_for_granted(without_lists(text), speaks) if text else NOTHING
            yield from filter(None, (doubt(self._seen) for doubt in granted))

    def unquoted(self, text: str) -> str:
        """Return a text without what it quotes of the chart and the calls, as it was said there."""
        plainly = text.replace("’", "'")
        if not any(mark in plainly for mark in _QUOTES):
            return text
        return _SAID.sub(self._unsaid, plainly)

    def _unsaid(self, quoted: re.Match[str]) -> str:
        """Return a quotation that stands nowhere; nothing in the place of any other."""
        said = quoted[1] or quoted[2]
        if not quoted_from(said, self._spoken, self.written):
            return quoted[0]
        return f" {said[-1]} " if said[-1] in MARKS else " "  # where a sentence ends, it still does

    def says_nothing(self, *texts: str) -> Iterator[str]:
        """Yield the texts, of those that are no blank, in which no word is one."""
        for text in texts:
            words = _WORD.findall(text.lower())
            told = not text.strip() or self._tells(words) or self._repeats(words)
            told = told or any(known_short(word) and self._seen.stands(word) for word in words)
            if not told and not stated(text).days:
                yield f"{text[:40]!r} says nothing"

    def _repeats(self, words: Sequence[str]) -> bool:
        """Return whether any of some words is one that the person used: "habit"."""
        long = {word for word in words if len(word) >= _LEAST_LETTERS}
        return not long.isdisjoint(self._spoken_words)

    @cached_property
    def _spoken_words(self) -> frozenset[str]:
        """The words that the person used."""
        return frozenset(_WORD.findall(self.speech.lower()))

    def unwanted(self, language: str | None, contact: str | None) -> Iterator[str]:
        """Yield a language, or a way to be reached, that neither chart nor person prefers.

        The calls are in English and by telephone, which may be noted of anybody.
        """
        named = language.strip() if language else "English"
        ways = set(_WORD.findall((contact or "").lower().replace("-", ""))) & _OTHER_WAYS
        if named.lower() == "english" and not ways:
            return  # as of nearly everybody, whatever was said
        said = f"{self.speech} {self.chart.patient.preferred_language}".lower()
        languages = [each.lower() for each in _NAME.findall(named)] or [named.lower()]
        known = {*_WORD.findall(said), "english", *_NO_LANGUAGE}
        if not known.issuperset(languages) or _NO_LANGUAGE.issuperset(languages):
            yield f"nobody asked for {named[:40]}"
        yield from (f"nobody asked for {way}" for way in sorted(ways - set(_WORD.findall(said))))

    def begun(self, *texts: str) -> Iterator[str]:
        """Yield medicines that texts have somebody take which are on no list, and nobody told of.

        Who prescribes may be asked for one, and what is to be avoided may be named.
        """
        for sentence in (each for text in texts for each in SENTENCE.findall(text.lower())):
            if _TAKES.search(sentence) and not _PRESCRIBERS.search(sentence):
                yield from (f"{name} is on no list" for name in self._strange(sentence))

    def _belied(self, text: str) -> Iterator[str]:
        """Yield what a text says of the calls that they were not."""
        if not self._hung_up and form("hung_up").search(text.lower()):
            yield "nobody hung up"

    @cached_property
    def _hung_up(self) -> bool:
        """Whether the person ended a call."""
        ends = (each.termination_reason for each in self.talk.sessions)
        return TerminationReason.PATIENT_ENDED in ends

    # -- what holds ------------------------------------------------------------------------------

    def _holds(self, said: Said) -> bool:
        claim = said.claim
        coded = bool(claim.codes) and any(code.startswith(claim.codes) for code in self._codes)
        if coded or self._answered(claim) or self._told(claim):
            return True
        return not said.now and lexicon().claims(self._file, claim)

    def _answered(self, claim: Claim) -> bool:
        """Return whether an answer to an instrument's question says it, or the sum on record."""
        if any(self._points.get(item, 0) > 0 for item in claim.items):
            return True
        return any({(topic, "1"), (topic, "2")} <= set(claim.items) for topic in self._screened)

    @cached_property
    def _screened(self) -> tuple[Topic, ...]:
        """The instruments of which the chart's latest sum says that what they ask for is there."""
        found = []
        for topic, (code, _) in rules().instruments.items():
            sums = [each for each in self.chart.observations if each.code == code]
            last = max(sums, key=lambda each: each.observed_at, default=None)
            if last is not None and (last.value_quantity or 0) >= _MILD:
                found.append(topic)
        return tuple(found)

    @cached_property
    def _codes(self) -> tuple[str, ...]:
        """The codes of the chart and the referral."""
        return (*(each.code for each in self.chart.conditions), *self.referral.diagnosis_codes)

    @cached_property
    def _points(self) -> dict[tuple[Topic, str], int]:
        """What was answered to each question of an instrument."""
        return {(each.topic, each.item): each.score or 0 for each in self.known.told}

    def _in_danger(self, claim: Claim) -> bool:
        """Return whether a danger was told that nobody may deny."""
        return Topic.SAFETY in claim.topics and self._answered(claim)

    def _told(self, claim: Claim) -> bool:
        """Return whether the person says it: by a yes to the subject, or in words."""
        if any(each.topic in claim.topics and each.present for each in self.known.told):
            return True
        return lexicon().claims(self.speech, claim)

    @cached_property
    def speech(self) -> str:
        """What the person said in the calls."""
        messages = (one for call in self.talk.sessions for one in call.messages)
        return "\n".join(one.content for one in messages if one.role == "patient")

    @cached_property
    def _file(self) -> str:
        """All that is on file in words."""
        chart, referral = self.chart, self.referral
        status = chart.patient.marital_status
        return "\n".join(
            (
                status,
                self.label,
                *(f"{each.payer_name} {each.plan_name}" for each in chart.coverages),
                *(each.content for each in chart.documents),
                *(each.summary for each in chart.encounters),
                *(each.display for each in chart.conditions),
                *(f"{each.display} {each.notes or ''}" for each in chart.procedures),
                *(each.value_text or "" for each in chart.observations),
                *(referral.reason, referral.notes or "", *referral.utilization_flags),
            )
        )

    @cached_property
    def _seen(self) -> Seen:
        """What stands on file and was said, against which people, names and deeds are held."""
        calls = (one for call in self.talk.sessions for one in call.messages)
        talked = any(one.role != "care_manager" for one in calls)
        return seen_of(
            self.known,
            self.referral,
            lambda: self._spoken,
            lambda: self.written,
            talked=talked,
        )

    @cached_property
    def _spoken(self) -> str:
        """The words of the calls, by whomever."""
        messages = (one for call in self.talk.sessions for one in call.messages)
        return plain("\n".join(one.content for one in messages))

    @cached_property
    def written(self) -> str:
        """The words of what is on file."""
        return plain(self._file)

    # -- names and words -------------------------------------------------------------------------

    def _strange(self, text: str) -> Iterator[str]:
        """Yield medicines that are neither on file nor told of."""
        flat = text.lower()
        named = medicine_names().intersection(_WORD.findall(flat))
        for name in sorted(named - self._taken):
            at = flat.index(name)
            first = max(flat.rfind(mark, 0, at) for mark in MARKS) + 1
            last = SENTENCE.search(flat, first)
            sentence = last[0] if last else flat
            stance = lexicon().stance(sentence, at - first, at - first + len(name))
            known = name in self._spoken.split() or name in self.written.split()
            if stance is Stance.CLAIMED and not known:
                yield name

    @cached_property
    def _taken(self) -> frozenset[str]:
        names = [each.medication_name for each in self.chart.medications]
        names += [each.item for each in self.known.about(Topic.MEDICATION)]
        names += [brand for name in names for brand in brands_of(name)]
        return frozenset(_WORD.findall(" ".join(names).lower()))

    def _tells(self, words: Sequence[str]) -> bool:
        """Return whether any of some words, or what it is a form of, is one that people here use.

        The chart's own words are gathered where no other is one.
        """
        if not _telling().isdisjoint(words):
            return True
        told = [word for word in words if word not in _JOINING]
        if any(map(everyday, told)):
            return True
        ended = ((word, end) for word in told for end in _ENDINGS if word.endswith(end))
        forms = {*told, *(word.removesuffix(end) for word, end in ended)}
        return bool(forms & _used() or forms & self._taken or forms & self._shown)

    @cached_property
    def _shown(self) -> frozenset[str]:
        """The words by which the chart calls what it has."""
        rows = (*self.chart.conditions, *self.chart.observations)
        names = [str(getattr(each, "display", "")) for each in rows]
        return _controlled() | frozenset(_WORD.findall(" ".join(names).lower()))


@cache
def _used() -> frozenset[str]:
    """Return the words that people here use."""
    spelling = grammar().spelling
    return spelling.known.union(spelling.fillers, spelling.spread)


@cache
def _telling() -> frozenset[str]:
    """Return those of them that do not only join others."""
    return _used() - _JOINING


@cache
def _controlled() -> frozenset[str]:
    """Return the words by which conditions, and what is measured of them, are called."""
    names = (part for each in controls() for part in (each.name, each.measure))
    return frozenset(_WORD.findall(" ".join(names).lower()))
