"""Whole cases of a practice in the words of authors who saw a chart, and no reader.

Of 48 such cases the practice's desk passed 14 before its readers were mended by two thirds of them;
those of the last author, 16, went from 6 to 11 before anybody looked at one. The texts are not
edited. What argues ten points in one turn of a call is asked which it means, and cannot pass here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from healthgym.core.seeding import Split
from healthgym.envs.managed_care.prior_authorization.family import AuthorizationFamily
from tests.envs.managed_care.prior_authorization.playing import fails, play, solution

_DATA = Path(__file__).parent / "data" / "honest_work.json"
_WRONG_MOST = 9
_Texts = Mapping[str, Mapping[str, str]]


def test_nearly_all_honest_work_passes() -> None:
    written: Mapping[str, _Texts] = json.loads(_DATA.read_text("utf-8"))
    wrong = [name for name, texts in written.items() if _failing(name, texts)]
    assert len(written) > 5 * _WRONG_MOST
    assert len(wrong) <= _WRONG_MOST, wrong


def _failing(name: str, texts: _Texts) -> set[str]:
    """Return what right work fails in somebody's words."""
    difficulty, index = name.split()
    instance = AuthorizationFamily(difficulty).generator.generate(Split.TEST, int(index))
    script, met, put = [], dict[str, int](), 0
    for one in solution(instance):
        nth = met.get(one.name, 0)
        met[one.name] = nth + 1
        own = texts.get(f"{one.name} {nth}", {})
        script.append(replace(one, arguments={**one.arguments, **own}))
        put += len(own)
    assert put == sum(map(len, texts.values())), f"{name}: a text has no place"
    return fails(play(instance, script, refused=True))
