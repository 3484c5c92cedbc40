"""Self-play: what is read once, what is learned, and one run of everything."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.test_examples import load

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("trl")

from healthgym.core.episode import Episode  # noqa: E402
from healthgym.core.seeding import Split  # noqa: E402
from healthgym.core.verdict import Profile  # noqa: E402
from healthgym.envs.managed_care.prior_auth_arena.drill_erring import SIDES  # noqa: E402
from healthgym.envs.managed_care.prior_auth_arena.drill_sides import KNOWING, play  # noqa: E402
from healthgym.envs.managed_care.prior_auth_arena.family import ArenaFamily  # noqa: E402
from healthgym.integrations.selfplay import games  # noqa: E402
from healthgym.integrations.selfplay.copying import copies  # noqa: E402
from healthgym.integrations.selfplay.games import Game, Talk  # noqa: E402
from healthgym.integrations.selfplay.proving import gain, kept  # noqa: E402
from healthgym.integrations.selfplay.training import (  # noqa: E402
    ExpertIteration,
    Imitation,
    Wins,
    imitate,
    won,
)
from healthgym.integrations.trl import chat  # noqa: E402
from healthgym.integrations.trl.foreign import AnyModel, AnyTokenizer  # noqa: E402
from healthgym.integrations.trl.memory import Memory  # noqa: E402
from healthgym.integrations.trl.reading import Reader  # noqa: E402
from healthgym.integrations.trl.tiny import (  # noqa: E402
    TinyConfig,
    tiny_model,
    train_tokenizer,
)
from healthgym.rewards import SparseReward  # noqa: E402
from tests.presentation.pages import bodies  # noqa: E402

pytestmark = [
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]

FAMILY = ArenaFamily("drill")
#: The seat that has the first turn.
BEGINS = next(iter(FAMILY.roles))
SHAPE = TinyConfig(hidden=32, layers=2, heads=2, feed_forward=48)


def opened(index: int) -> Episode:  # type: ignore[type-arg]
    instance = FAMILY.generator.generate(Split.TRAIN, index)
    return Episode(FAMILY, instance, SparseReward(), FAMILY.rules)


@pytest.fixture(scope="module")
def demonstrated() -> list[Episode]:  # type: ignore[type-arg]
    return [play(opened(n), FAMILY.generator.generate(Split.TRAIN, n), KNOWING) for n in range(6)]


@pytest.fixture(scope="module")
def tokenizer(demonstrated: Sequence[Episode]) -> AnyTokenizer:  # type: ignore[type-arg]
    return train_tokenizer([text for one in demonstrated for text in games.texts(one)], 600)


@pytest.fixture
def model(tokenizer: AnyTokenizer) -> AnyModel:
    return tiny_model(tokenizer, SHAPE, 0).eval()


def test_what_is_read_piece_by_piece_is_what_transformers_reads_at_once(
    model: AnyModel, tokenizer: AnyTokenizer
) -> None:
    reader = Reader(model, tokenizer.eos_token_id, longest=5)
    talks = [list(range(10 + 7 * n)) for n in range(4)]
    memories = [Memory() for _ in talks]
    for piece in ([40, 41, 42], [50]):
        fresh = [
            talk[memory.length :] + piece for talk, memory in zip(talks, memories, strict=True)
        ]
        replies = reader.replies(memories, fresh, 0.0, torch.Generator())
        for talk, reply, memory in zip(talks, replies, memories, strict=True):
            talk += [*piece, *reply]
            assert memory.length == len(talk) - 1
            with torch.no_grad():
                likeliest = model(torch.tensor([talk])).logits[0].argmax(dim=-1)
            first = len(talk) - len(reply)
            assert reply == likeliest[first - 1 : -1].tolist()


def test_tokens_are_drawn_as_often_as_the_model_says(model: AnyModel) -> None:
    """Their mean surprise is the entropy at temperature 1, and less where it is colder."""
    reader, rows = Reader(model, -1, longest=1), 2000
    with torch.no_grad():
        logps = model(torch.tensor([[5, 6, 7]])).logits[0, -1].log_softmax(-1)
    entropy = -float((logps.exp() * logps).sum())
    surprise = {}
    for temperature in (1.0, 0.2):
        chance = torch.Generator().manual_seed(0)
        memories = [Memory() for _ in range(rows)]
        replies = reader.replies(memories, [[5, 6, 7]] * rows, temperature, chance)
        surprise[temperature] = -float(logps[[token for (token,) in replies]].mean())
    assert surprise[1.0] == pytest.approx(entropy, abs=0.05)
    assert surprise[0.2] < entropy - 0.05


def test_a_reply_ends_with_its_mark_or_where_it_is_cut(
    model: AnyModel, tokenizer: AnyTokenizer
) -> None:
    likeliest = Reader(model, tokenizer.eos_token_id, longest=6)
    (reply,) = likeliest.replies([Memory()], [[5, 6, 7]], 0.0, torch.Generator())
    assert len(reply) <= 6
    ended = Reader(model, reply[0], longest=6)
    (short,) = ended.replies([Memory()], [[5, 6, 7]], 0.0, torch.Generator())
    assert short == reply[:1]


def test_a_demonstration_reads_as_a_game_does(
    demonstrated: Sequence[Episode],  # type: ignore[type-arg]
    tokenizer: AnyTokenizer,
) -> None:
    for episode in demonstrated:
        for role in episode.roles:
            talk = games.shown(episode, role, tokenizer)
            assert len(talk.ids) == len(talk.said)
            said = tokenizer.decode([t for t, own in zip(talk.ids, talk.said, strict=True) if own])
            calls = sum(turn.role == role for turn in episode.turns)
            assert said.count(chat.END) == said.count(chat.CALL) == calls
            read = tokenizer.decode(
                [t for t, own in zip(talk.ids, talk.said, strict=True) if not own]
            )
            assert read.startswith(chat.USER)
            assert chat.CALL not in read


class Parrot:
    """A reader that says what a demonstration says."""

    longest, context = 0, 1 << 20

    def __init__(self, talk: Talk) -> None:
        own = [t for t, mine in zip(talk.ids, talk.said, strict=True) if mine]
        self._rest = own
        self.heard: list[int] = []

    def replies(
        self, memories: Sequence[Memory], fresh: Sequence[Sequence[int]], *rest: object
    ) -> list[object]:
        (new,) = fresh
        self.heard = list(new)
        end = self._rest.index(END[0]) + 1
        ids, self._rest = self._rest[:end], self._rest[end:]
        return [ids]


END: list[int] = []


def test_who_says_what_was_demonstrated_wins_the_game(
    demonstrated: Sequence[Episode],  # type: ignore[type-arg]
    tokenizer: AnyTokenizer,
) -> None:
    END[:] = [tokenizer.eos_token_id]
    for index, episode in enumerate(demonstrated):
        talks = {role: games.shown(episode, role, tokenizer) for role in episode.roles}
        readers = {role: Parrot(talk) for role, talk in talks.items()}
        game = Game(opened(index), {}, readers)  # type: ignore[arg-type]
        games.play([game], tokenizer)
        assert game.both
        assert all(kept(game, role, each) for role in episode.roles for each in Profile)
        assert {role: talk.ids for role, talk in game.talks.items()} == {
            role: talk.ids for role, talk in talks.items()
        }


def test_what_is_no_call_is_refused_and_the_game_goes_on(
    model: AnyModel, tokenizer: AnyTokenizer
) -> None:
    reader = Reader(model, tokenizer.eos_token_id, longest=3)
    game = Game(opened(0), {}, dict.fromkeys(FAMILY.roles, reader))
    games.play([game], tokenizer, temperature=1.0)
    assert game.episode.done()
    assert not game.both
    assert not any(kept(game, role) for role in FAMILY.roles)
    assert any(event.error for event in game.episode.events)


def test_what_was_replied_before_is_not_read_again(
    model: AnyModel, tokenizer: AnyTokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = Reader(model, tokenizer.eos_token_id, longest=3)
    known: games.Known = {}

    def played() -> Game:
        game = Game(opened(0), {}, dict.fromkeys(FAMILY.roles, reader))
        games.play([game], tokenizer, known=known)
        return game

    first, asked = played(), []
    answer = reader.replies
    monkeypatch.setattr(
        reader, "replies", lambda memories, *rest: asked.extend(memories) or answer(memories, *rest)
    )
    again = played()
    assert not asked
    assert known
    assert {role: talk.ids for role, talk in again.talks.items()} == {
        role: talk.ids for role, talk in first.talks.items()
    }
    known.clear()
    assert played().talks[BEGINS].ids == first.talks[BEGINS].ids
    assert asked


def test_a_seat_whose_conversation_fills_the_context_is_out_of_turns(
    tokenizer: AnyTokenizer,
) -> None:
    instruction = tokenizer.encode(opened(0).instruction(BEGINS))
    short = tiny_model(tokenizer, replace(SHAPE, context=len(instruction)), 0).eval()
    reader = Reader(short, tokenizer.eos_token_id, longest=3)
    game = Game(opened(0), {}, dict.fromkeys(FAMILY.roles, reader))
    games.play([game], tokenizer)
    assert game.episode.done()
    assert not any(turn.role == BEGINS for turn in game.episode.turns)


def test_imitation_lowers_the_loss(
    model: AnyModel,
    tokenizer: AnyTokenizer,
    demonstrated: Sequence[Episode],  # type: ignore[type-arg]
) -> None:
    talks = [games.shown(one, role, tokenizer) for one in demonstrated for role in one.roles]
    losses: list[float] = []
    imitate(model, talks, Imitation(steps=30, batch=4), 0, lambda step, loss: losses.append(loss))
    assert losses[-1] < 0.8 * losses[0]


def test_lists_are_repeated_whole_or_each_value_by_its_word(tokenizer: AnyTokenizer) -> None:
    texts = ["Send DOC-7001 by 2026-03-16.", "Read what MP-RAD-037.md says about nurses"]
    texts += ["before anything else", "until after noon", "under these rules"]
    for number, talk in enumerate(copies(texts, 6, tokenizer, 0)):
        own = [t for t, mine in zip(talk.ids, talk.said, strict=True) if mine]
        said = tokenizer.decode(own).removesuffix(chat.END).split(", ")
        assert set(said) <= {"DOC-7001", "2026-03-16", "MP-RAD-037"}
        asked = tokenizer.decode(talk.ids)
        if number % 2 == 0:
            assert asked.count(", ".join(said)) == 2
            continue
        words = asked[asked.index("comes after ") + 12 :].partition(".")[0].split(", ")
        assert len(set(words)) == len(said)
        assert all(f"{word} {value}" in asked for word, value in zip(words, said, strict=True))
    with pytest.raises(ValueError, match="give texts"):
        copies(["Nothing."], 1, tokenizer, 0)


class Judged:
    """An episode that is judged already."""

    roles = ("a",)

    def __init__(self, won: bool) -> None:
        self._won = won

    def verdict(self, role: str) -> SimpleNamespace:
        return SimpleNamespace(success=self._won)


def told(wins: Sequence[bool], ids: Sequence[Sequence[int]], by: Reader) -> list[Game]:
    found = []
    for success, said in zip(wins, ids, strict=True):
        talk = Talk("a")
        talk.add([1, 2, 3])
        talk.add(list(said), own=True)
        found.append(Game(Judged(success), {}, {"a": by}, {"a": talk}))  # type: ignore[arg-type]
    return found


def chance(model: AnyModel, said: Sequence[int]) -> float:
    with torch.no_grad():
        logps = model(torch.tensor([[1, 2, 3, *said]])).logits[0].log_softmax(-1)
    return sum(float(logps[2 + n, token]) for n, token in enumerate(said))


def test_what_won_is_said_again_and_what_lost_is_not(model: AnyModel) -> None:
    said = [7, 8], [9, 10]
    before = chance(model, said[0])
    learner, plan = Reader(model, 0, 4), ExpertIteration(group=2, steps=4, batch=2)
    kept, mixed = won(told([True, False], said, learner), plan, learner, 0)
    assert [talk.ids[3:] for talk, _ in kept] == [said[0]]
    assert [worth for _, worth in kept] == [0.5]
    assert mixed == 1.0
    wins = Wins(plan)
    wins.add(kept)
    wins.repeat(model, torch.optim.SGD(model.parameters(), 1e-1), 0)
    assert chance(model, said[0]) > before


def test_what_is_won_anyway_is_worth_little_and_what_is_lost_nothing(model: AnyModel) -> None:
    said = [[7, 8], [9, 10], [11, 12]]
    learner, plan = Reader(model, 0, 4), ExpertIteration(group=3, most=2)
    kept, mixed = won(told([True] * 3, said, learner), plan, learner, 0)
    assert [worth for _, worth in kept] == [0.1, 0.1]
    assert mixed == 0.0
    assert won(told([False] * 3, said, learner), plan, learner, 0) == ([], 0.0)


def test_only_what_the_learner_said_is_learned_from(model: AnyModel) -> None:
    learner, past = Reader(model, 0, 4), Reader(model, 0, 4)
    played = told([True, False], [[7, 8], [9, 10]], past)
    plan = ExpertIteration(group=2)
    assert won(played, plan, learner, 0) == ([], 0.0)
    assert len(won(played, plan, past, 0)[0]) == 1


def test_rounds_are_forgotten_and_the_rate_falls(model: AnyModel) -> None:
    said = [7, 8]
    (game,) = told([True], [said], Reader(model, 0, 4))
    optimizer, wins = torch.optim.SGD(model.parameters(), 1.0), Wins(ExpertIteration(remembered=1))
    wins.add([(game.talks["a"], 1.0)])
    wins.add([])
    before = chance(model, said)
    wins.repeat(model, optimizer, 6)
    assert chance(model, said) == before
    wins.add([(game.talks["a"], 1.0)])
    wins.repeat(model, optimizer, 6)
    assert optimizer.param_groups[0]["lr"] == pytest.approx(0.5e-3)
    assert chance(model, said) > before


def test_a_gain_is_paired_by_task() -> None:
    before = {str(n): n % 2 == 0 for n in range(40)}
    found = gain(dict.fromkeys(before, True), before)
    assert found.estimate == 0.5
    assert 0.3 < found.low < 0.5 < found.high < 0.7


def test_everything_runs_once(tmp_path: Path) -> None:
    example = load("self_play")
    proof = example.main(str(tmp_path), settings=example.Settings.smallest())
    assert len(proof.against) == len(example.UNSEEN)
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<polyline" in page
    assert "provider \\ payer" in page
    assert "the whole arena" in page
    assert "CASE-7001" in str(bodies(page))
    result = json.loads((tmp_path / "result.json").read_text(encoding="utf-8"))
    assert set(result["careless"]) == {
        f"{role} {name}" for role, names in FAMILY.careless().items() for name in names
    }
    assert (tmp_path / "generation-1" / "config.json").is_file()
    beside = example.beside(str(tmp_path), example.Settings.smallest())
    assert {role: set(found) for role, found in beside.items()} == {
        role: set(example.SIDES[example.OTHER[role]]) for role in FAMILY.roles
    }
    assert json.loads((tmp_path / "sides.json").read_text(encoding="utf-8")) == beside


def test_duties_are_told_side_by_side() -> None:
    episode = opened(0)
    silent = {
        BEGINS: SIDES[BEGINS]["absent"],
        **{r: KNOWING[r] for r in FAMILY.roles if r != BEGINS},
    }
    play(episode, FAMILY.generator.generate(Split.TRAIN, 0), silent, 0)
    game = Game(episode, {}, {})
    found = {role: [kept(game, role, each) for each in Profile] for role in episode.roles}
    assert found[BEGINS] == [False, False]
    assert not game.both


def test_a_run_goes_on_after_its_imitation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    example, clock = load("self_play"), SimpleNamespace(stage=lambda *_: lambda *_: None)
    settings = example.Settings.smallest()
    first, _, spent = example.begun(tmp_path, settings, 0, clock)
    monkeypatch.delattr(example, "imitated")
    again, _, before = example.begun(tmp_path, settings, 0, clock)
    assert before == spent
    for one, other in zip(first.parameters(), again.parameters(), strict=True):
        assert torch.equal(one, other)


def test_two_folders_play_each_other(
    tmp_path: Path, model: AnyModel, tokenizer: AnyTokenizer
) -> None:
    import gymnasium as gym

    from healthgym.cli import main as cli

    for name in ("one", "other"):
        model.save_pretrained(tmp_path / name)
        tokenizer.save_pretrained(tmp_path / name)
    env_id = "HealthTest/ArenaDrill-v0"
    entry = "healthgym.envs.managed_care.prior_auth_arena.env:PriorAuthArenaEnv"
    gym.register(env_id, entry_point=entry, kwargs={"difficulty": "drill"})
    try:
        out = tmp_path / "out.json"
        line = ["eval", env_id, "--episodes", "1", "--no-floor", "--json", str(out)]
        line += ["--policy", str(tmp_path / "one"), "--opponent", str(tmp_path / "other")]
        assert cli(line) == 0
        assert '"strict"' in out.read_text(encoding="utf-8")
        line[-3:] = ["oracle", "--opponent", "oracle"]
        assert cli(line) == 0
    finally:
        gym.registry.pop(env_id)
