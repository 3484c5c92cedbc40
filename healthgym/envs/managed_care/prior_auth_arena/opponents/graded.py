"""The opponents by name, and how strong each is."""

from __future__ import annotations

from collections.abc import Mapping

from healthgym.core.players import Solver
from healthgym.core.tool import call
from healthgym.envs.managed_care.prior_auth_arena.opponents import careless, payers, providers
from healthgym.envs.managed_care.prior_auth_arena.opponents.providers import habit
from healthgym.envs.managed_care.prior_auth_arena.reader import READERS, reviewing
from healthgym.envs.managed_care.reading.asking import Play
from healthgym.worlds.managed_care.relay import PAYER, PROVIDER


def absent(instruction: str) -> Play[None]:
    """Say at once that all is done."""
    yield call("finish")


HONEST = "honest"
#: Who errs in one way, by side and name; whoever is honest does not.
GRADED: Mapping[str, Mapping[str, Solver]] = {
    PROVIDER: {
        HONEST: READERS[PROVIDER],
        "omits_one": habit(providers.OmitsOne),
        "wrong_site": habit(providers.WrongSite),
        "over_documents": habit(providers.OverDocuments),
        "answers_wrong": habit(providers.AnswersWrong),
        "argues_beyond": habit(providers.ArguesBeyond),
        "makes_up": providers.makes_up,
        "silent": habit(providers.Silent),
        "leaves": habit(providers.Leaves),
        "appeals_all": careless.appealing,
    },
    PAYER: {
        HONEST: READERS[PAYER],
        "slow": reviewing(payers.Slow),
        "asks_again": reviewing(payers.AsksAgain),
        "misreads": reviewing(payers.Misreads),
        "strict_steps": reviewing(payers.StrictSteps),
        "concedes": reviewing(payers.Concedes),
        "trusts": reviewing(payers.Trusts),
        "rubber_stamp": reviewing(payers.RubberStamp),
        "wrong_desk": reviewing(payers.WrongDesk),
        "past_times": reviewing(payers.PastTimes),
    },
}
#: Who wants the reward without the work, by side and name.
CARELESS: Mapping[str, Mapping[str, Solver]] = {
    PROVIDER: {
        "absent": absent,
        "never_submits": careless.never,
        "submits_all": careless.sending(careless.first_page),
        "floods": careless.sending(careless.whole_chart),
        "no_evidence": careless.sending(careless.nothing),
        "stalls": habit(careless.Stalls),
    },
    PAYER: {
        "absent": absent,
        "approves_all": reviewing(payers.RubberStamp),
        "denies_all": reviewing(payers.DeniesAll),
        "stalls": reviewing(payers.Stalls),
        "agrees": reviewing(payers.Agrees),
    },
}
#: Everybody who can fill a seat by name.
OPPONENTS: Mapping[str, Mapping[str, Solver]] = {
    side: {**GRADED[side], **CARELESS[side]} for side in GRADED
}
#: Share of tasks on which both sides succeed where the other one knows the answer: measured on the
#: first 40 test tasks of "medium". A payer errs on the request of another office as well.
STRENGTHS: Mapping[str, Mapping[str, float]] = {
    PROVIDER: {
        HONEST: 1.0,
        "omits_one": 0.68,
        "wrong_site": 0.0,
        "over_documents": 0.58,
        "answers_wrong": 0.95,
        "argues_beyond": 0.58,
        "makes_up": 0.90,
        "silent": 0.75,
        "leaves": 0.75,
        "appeals_all": 0.0,
        "absent": 0.0,
        "never_submits": 0.0,
        "submits_all": 0.0,
        "floods": 0.0,
        "no_evidence": 0.0,
        "stalls": 0.0,
    },
    PAYER: {
        HONEST: 1.0,
        "slow": 1.0,
        "asks_again": 0.48,
        "misreads": 0.33,
        "strict_steps": 0.78,
        "concedes": 0.90,
        "trusts": 0.60,
        "rubber_stamp": 0.0,
        "wrong_desk": 0.0,
        "past_times": 0.80,
        "absent": 0.0,
        "approves_all": 0.0,
        "denies_all": 0.0,
        "stalls": 0.0,
        "agrees": 0.0,
    },
}
