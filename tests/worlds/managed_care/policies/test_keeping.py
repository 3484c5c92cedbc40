"""What follows from a policy is kept with it, and is no part of it."""

from __future__ import annotations

import copy
import pickle
from dataclasses import dataclass, replace

from healthgym.worlds.managed_care.policies.keeping import Keeping, kept
from healthgym.worlds.managed_care.policies.loading import library
from healthgym.worlds.managed_care.policies.tree import criteria


@dataclass(frozen=True, slots=True)
class Word(Keeping):
    text: str


def test_it_is_made_once_for_each_value_and_goes_into_no_copy() -> None:
    asked: list[str] = []

    @kept
    def length(word: Word) -> int:
        asked.append(word.text)
        return len(word.text)

    word = Word("four")
    assert [length(word), length(word), asked] == [4, 4, ["four"]]
    assert length(replace(word, text="seven")) == 5
    for other in (copy.copy(word), pickle.loads(pickle.dumps(word)), Word("four")):
        assert (other, repr(other), hash(other)) == (word, repr(word), hash(word))
        length(other)
    assert asked == ["four", "seven", "four", "four", "four"]


def test_a_policy_that_differs_keeps_what_follows_from_its_own_criteria() -> None:
    policy = next(each for each in library().values() if len(criteria(each.criteria)) > 1)
    item = criteria(policy.criteria)[0]
    known = policy.text(item.id), policy.required_documents, policy.form
    other = replace(policy, id=f"{policy.id}-X", criteria=replace(item, display="another thing"))
    assert criteria(other.criteria) == (other.criteria,)
    assert "another thing" in other.text(item.id)
    assert other.form != policy.form
    assert (policy.text(item.id), policy.required_documents, policy.form) == known
