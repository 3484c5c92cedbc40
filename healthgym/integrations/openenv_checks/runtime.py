"""Checks of a running server: seeds, sessions, declarations, records and walls."""

from __future__ import annotations

import json
import re
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import suppress

from openenv.validation import Level
from websockets.exceptions import ConnectionClosed

from healthgym.core.borders import JsonDict
from healthgym.integrations.openenv_checks.looking import Finding, OurCheck, Package, Unchecked
from healthgym.integrations.openenv_checks.wire import Session, play

_SEEDS = range(5)
#: Paths outside, which no tool may open for a caller, and what stands in them.
_OUTSIDE = (
    "/etc/passwd",
    "../../../../../../etc/passwd",
    "file:///etc/passwd",
    "/proc/self/environ",
)
_INSIDE = re.compile(r"root:[^:]*:0:0:|HOME=/")
#: More than a message may be long (``--message``).
_LONG = (1 << 20) + 1


def _get(url: str, body: JsonDict | None = None) -> tuple[int, str]:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    data = None if body is None else json.dumps(body).encode()
    asked = urllib.request.Request(url, data, {"Content-Type": "application/json"})
    try:
        with opener.open(asked, timeout=30) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def _seed_control(package: Package) -> Finding:
    firsts = []
    for seed in _SEEDS:
        options = {"seed": seed, "split": "train"}
        twice = []
        for _ in range(2):
            with Session(package.url) as session:
                twice.append(session.begin(options))
        firsts.append(twice)
    problems = [
        f"seed {seed} drew two tasks" for seed, (one, two) in zip(_SEEDS, firsts, strict=True)
        if one != two
    ]  # fmt: skip
    different = {json.dumps(one) for one, _ in firsts}
    if len(different) < 2:
        problems.append("every seed drew the same task")
    looked = "each of five seeds was reset to twice, in sessions of their own"
    return Finding(looked, problems, {"seeds": len(_SEEDS), "different": len(different)})


def _determinism(package: Package) -> Finding:
    again = [play(package.url, episode) for episode in package.episodes]
    problems = [
        f"episode {number} was answered otherwise"
        for number, (one, two) in enumerate(zip(package.solved, again, strict=True))
        if one != two
    ]
    answers = sum(len(each.answers) for each in again)
    return Finding("the oracle's episodes were played twice", problems, {"answers": answers})


def _isolation(package: Package) -> Finding:
    one, two = package.episodes[0], package.episodes[-1]
    alone = [play(package.url, one), play(package.url, two)]
    with Session(package.url) as left, Session(package.url) as right:
        sides = [(left, one, [left.begin(one["options"])]),
                 (right, two, [right.begin(two["options"])])]  # fmt: skip
        for turn in range(max(len(one["actions"]), len(two["actions"]))):
            for session, episode, answers in sides:
                if turn < len(episode["actions"]) and not answers[-1]["done"]:
                    answers.append(session.ask("step", episode["actions"][turn]))
        after = left.play(one)
    problems = [
        f"{name} was answered otherwise beside another session"
        for name, (_, _, answers), plain in zip(("one", "the other"), sides, alone, strict=True)
        if tuple(answers) != plain.answers
    ]
    if after != alone[0]:
        problems.append("an episode went otherwise after another one in its session")
    return Finding("two sessions took turns, then one of them played again", problems)


def _tools(package: Package) -> Finding:
    declared = set(package.manifest.capabilities.declared_tools)
    offered, called = set(), set()
    for episode, went in zip(package.episodes, package.solved, strict=True):
        offered |= {tool["function"]["name"] for tool in went.answers[0]["observation"]["tools"]}
        called |= {action["tool"] for action in episode["actions"]}
    problems = [f"{name} is declared and not offered, or offered and not declared"
                for name in sorted(declared ^ offered)]  # fmt: skip
    problems += [f"{name} was called and is not declared" for name in sorted(called - declared)]
    told = play(package.url, {**package.episodes[0], "actions": [{"tool": "no_such_tool"}]})
    if not told.last["error"]:
        problems.append("a call of a tool that is not declared was carried out")
    looked = (
        "the tools of every reset were compared with the manifest, and an undeclared one called"
    )
    return Finding(looked, problems, {"declared": len(declared), "called": len(called)})


def _tasks(package: Package) -> Finding:
    name = json.loads(_get(f"{package.url}/list_environments")[1])[0]
    base = f"{package.url}/{name}"
    counts = {
        split: json.loads(_get(f"{base}/num_tasks", {"split": split})[1])["num_tasks"]
        for split in package.manifest.capabilities.declared_task_count
    }
    problems = []
    if counts != package.manifest.capabilities.declared_task_count:
        problems.append(f"the server counts {counts}")
    for episode, went in zip(package.episodes, package.solved, strict=True):
        told = json.loads(_get(f"{base}/task", episode["options"])[1])["task"]
        if told["id"] != went.answers[0]["observation"]["metadata"]["task_id"]:
            problems.append(f"{told['id']} is listed where another task is played")
    return Finding("the Task API was compared with the manifest and with what is played", problems,
                   {"splits": counts})  # fmt: skip


def _trajectories(package: Package) -> Finding:
    _ = package.solved
    before = len(package.records())
    ended = [play(package.url, episode).done for episode in package.episodes]
    records = package.records()[before:]
    problems = [] if len(records) == sum(ended) else [f"{len(records)} of {sum(ended)} recorded"]
    turns = sum(len(record.turns) for record in records)
    return Finding("the server's record was read after the oracle's episodes", problems,
                   {"episodes": len(records), "turns": turns})  # fmt: skip


def _attribution(package: Package) -> Finding:
    problems: list[str] = []
    named: set[str] = set()
    for went in [*package.solved, *(each for _, each in package.attacked)]:
        verdict = went.last["verdict"]["strict"] if went.done else {}
        checks = {check["name"]: check["passed"] for check in verdict.get("checks", ())}
        named |= checks.keys()
        if not checks or bool(verdict["success"]) != (went.earned == 1.0):
            problems.append("a reward that the verdict's checks do not explain")
    return Finding("the reward of every episode was compared with its verdict and named checks",
                   problems, {"checks": sorted(named)})  # fmt: skip


def _rubric(package: Package) -> Finding:
    raise Unchecked(
        "no rubric tree of RFC 004 is declared: a reward is one verdict, whose checks are named "
        "(runtime.reward_attribution)"
    )


def _oracle(package: Package) -> Finding:
    recipe = (package.root / "Dockerfile").read_text("utf-8")
    problems = [
        f"the image is given {line}" for line in recipe.splitlines()
        if re.match(r"(?i)(COPY|ADD)\s", line) and line.split()[1] != "requirements.txt"
    ]  # fmt: skip
    for path in ("oracle/episodes.json", "canaries/episodes.json", "episodes.jsonl"):
        status, _ = _get(f"{package.url}/{path}")
        if status != 404:
            problems.append(f"/{path} is answered with {status}")
    problems += list(_early(package))
    return Finding("the Dockerfile's copies were read, the server was asked for the files, and no "
                   "answer before the end holds a verdict", problems)  # fmt: skip


def _early(package: Package) -> Iterator[str]:
    for went in package.solved:
        for answer in went.answers[:-1]:
            observation = answer["observation"]
            if observation["verdict"] or "success" in observation["metadata"] or answer["reward"]:
                yield "a verdict or reward was told before the end"


def _containment(package: Package) -> Finding:
    tools = package.solved[0].answers[0]["observation"]["tools"]
    before = sorted(file.name for file in package.running.folder.iterdir())
    problems, tried = [], 0
    for tool in tools:
        name, fields = tool["function"]["name"], tool["function"]["parameters"]["properties"]
        for path in _OUTSIDE:
            for target in fields:
                with Session(package.url) as session:
                    session.begin(package.episodes[0]["options"])
                    arguments = {**_filled(fields), target: path}
                    answer = session.ask("step", {"tool": name, "arguments": arguments})
                tried += 1
                if _INSIDE.search(answer["observation"]["text"]):
                    problems.append(f"{name}({target}) tells what is in {path}")
    if sorted(file.name for file in package.running.folder.iterdir()) != before:
        problems.append("the server wrote files beside its record")
    if package.running.children():
        problems.append("the server started processes")
    return Finding("paths outside were given to every argument of every tool; the agent's boundary "
                   "is the interface, and no container was tried", problems,
                   {"calls": tried})  # fmt: skip


def _filled(fields: JsonDict) -> JsonDict:
    samples: JsonDict = {"integer": 1, "number": 1.0, "boolean": False, "array": [], "object": {}}
    return {
        name: (about.get("enum") or [samples.get(str(about.get("type")), "x")])[0]
        for name, about in fields.items()
    }


def _bounds(package: Package) -> Finding:
    problems = []
    budget = package.env.config.budget(package.env.role)
    with Session(package.url) as session:
        begun = session.begin(package.episodes[0]["options"])
        went = session.go_on(begun, ({"text": "no call"} for _ in range(10 * budget)))
    turns = len(went.answers) - 1
    if not went.done or turns > budget:
        problems.append(f"an episode went on for {turns} turns, where {budget} are allowed")
    with Session(package.url) as session, suppress(ConnectionClosed):
        session.begin(package.episodes[0]["options"])
        session.ask("step", {"text": "x" * _LONG})
        problems.append(f"a message of {_LONG} characters was accepted")
    if not play(package.url, package.episodes[0]).done:
        problems.append("no episode can be played after that")
    return Finding("an episode of nonsense was played until it ended, and a message sent that is "
                   "too long; no memory limit was tried", problems,
                   {"turns": turns, "budget": budget})  # fmt: skip


CHECKS = (
    OurCheck("runtime.seed_control", Level.RUNTIME, _seed_control),
    OurCheck("runtime.episode_determinism", Level.RUNTIME, _determinism),
    OurCheck("runtime.episode_isolation", Level.RUNTIME, _isolation),
    OurCheck("runtime.tool_declaration_accuracy", Level.RUNTIME, _tools),
    OurCheck("runtime.task_declaration_accuracy", Level.RUNTIME, _tasks),
    OurCheck("runtime.trajectory_record", Level.RUNTIME, _trajectories),
    OurCheck("runtime.reward_attribution", Level.RUNTIME, _attribution),
    OurCheck("runtime.rubric_introspectable", Level.RUNTIME, _rubric),
    OurCheck("runtime.oracle_containment", Level.RUNTIME, _oracle),
    OurCheck("runtime.host_containment", Level.RUNTIME, _containment),
    OurCheck("runtime.resource_bounds", Level.RUNTIME, _bounds),
)
