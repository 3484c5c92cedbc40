"""Acts put into words: a phrase book each for those who talk on the phone."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from healthgym.worlds.managed_care.conversation.acts import Act, Meant
from healthgym.worlds.managed_care.start import WorldStart
from healthgym.worlds.managed_care.voices import Topic


@dataclass(frozen=True, slots=True, kw_only=True)
class PhraseBook:
    """How somebody says things.

    Attributes:
        acts: Wordings of an act that is about nothing special.
        permission: Wordings of the question whether a subject may be asked about, by subject.
        topics: Wordings of the question on a subject.
        items: Wordings of each question of an instrument, in order.
        concerns: Wordings of the answer to a worry.
    """

    acts: Mapping[str, Sequence[str]]
    permission: Mapping[str, Sequence[str]]
    topics: Mapping[str, Sequence[str]]
    items: Mapping[str, Sequence[Sequence[str]]]
    concerns: Mapping[str, Sequence[str]]

    def say(self, acts: Sequence[Meant], before: Mapping[Meant, int] | None = None) -> str:
        """Return a message that does these acts, in order, each once.

        Args:
            acts: The acts.
            before: How often each was said before: who was not understood takes other words.
        """
        said = before or {}
        return " ".join(self._words(each, said.get(each, 0)) for each in dict.fromkeys(acts))

    def _words(self, meant: Meant, again: int) -> str:
        wordings = self._wordings(meant)
        return wordings[again % len(wordings)]

    def _wordings(self, meant: Meant) -> Sequence[str]:
        topic = str(meant.topic or "")
        match meant.act:
            case Act.ASK_ITEM:
                return self.items[topic][int(meant.item) - 1]
            case Act.ASK_TOPIC:
                asked = {Topic.PHQ9: Topic.MOOD, Topic.GAD7: Topic.MOOD}
                return self.topics[asked.get(Topic(topic), Topic(topic))]
            case Act.ASK_PERMISSION:
                return self.permission.get(topic, self.permission[""])
            case Act.ANSWER_CONCERN:
                return self.concerns.get(meant.item, self.concerns[""])
            case _:
                return self.acts[meant.act]


@cache
def phrase_book(name: str, caller: str) -> PhraseBook:
    """Return a phrase book of ``data/phrases.json``.

    Args:
        name: Whose it is, such as ``plain``.
        caller: Who calls, as the desk has them; what stands behind a comma is left out.

    Raises:
        KeyError: If there is none of the name.
    """
    text = (files(__package__) / "data" / "phrases.json").read_text("utf-8")
    return PhraseBook(**json.loads(text.replace("{caller}", caller.split(",")[0]))[name])


def to_others(book: str, key: str, **slots: str) -> str:
    """Return what is said to somebody else than the person, or beside the script.

    Args:
        book: Whose phrase book it is, such as ``plain``.
        key: What is to be said, such as ``machine``.
        slots: What stands in the slots: ``caller``, ``name``, ``number``, ``proxy``.
    """
    return _others()[book][key][0].format(**slots)


@cache
def _others() -> Mapping[str, Mapping[str, Sequence[str]]]:
    text = (files(__package__) / "data" / "others.json").read_text("utf-8")
    loaded: Mapping[str, Mapping[str, Sequence[str]]] = json.loads(text)
    return loaded


def caller_of(start: WorldStart) -> str:
    """Return the name of whoever sits at the desk."""
    return start.staff.workers[start.actor].name
