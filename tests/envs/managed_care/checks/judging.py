"""What a stand-in for a judge reads and answers."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from tests.standin import Reply, completion

PART = re.compile(r"<<<([A-Z0-9 ]+)\n(.*)\n\1>>>")
Answer = Callable[[dict[str, str]], dict[str, Any]]


def parts(body: dict[str, Any]) -> dict[str, str]:
    """Return what a judge was sent, part by part."""
    text = body["messages"][1]["content"]
    return {name: json.loads(said) for name, said in PART.findall(text)}


def longest(text: str) -> str:
    return max(text.split("\n"), key=len)[:60]


def evidence(sent: dict[str, str]) -> list[str]:
    """Return a passage from everybody whose words the rubric asks for."""
    names = (
        sent["EVIDENCE"].replace("what is on file", "chart").partition("each of: ")[2].split(", ")
    )
    lines = sent.get("CALL", "").split("\n")
    heard = [line.partition(": ")[2] for line in lines if re.match("counterpart|patient", line)]
    return [longest(sent.get(name.upper()) or "\n".join(heard)) for name in names]


def honest(sent: dict[str, str]) -> dict[str, Any]:
    return {"met": True, "quotes": evidence(sent), "reason": "so it stands"}


def severe(sent: dict[str, str]) -> dict[str, Any]:
    return {"met": False, "quotes": []}


def saying(*answers: Answer) -> Callable[[dict[str, Any]], Reply]:
    """Return somebody who answers one way after the other, in turns."""
    asked = iter(range(10_000))

    def reply(body: dict[str, Any]) -> Reply:
        return completion(json.dumps(answers[next(asked) % len(answers)](parts(body))))

    return reply
