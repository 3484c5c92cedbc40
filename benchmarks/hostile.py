"""Attack every tool of every environment a million times: results/hostile.json.

    python benchmarks/hostile.py                                        # all of them, some hours
    python benchmarks/hostile.py --only HealthAgent/TrialMatching-v1    # repeatable
    python benchmarks/hostile.py --share 0.01 --attack 2                # a hundredth, another seed

Calls are made from each tool's schema and language (:func:`healthgym.testing.check_total`). One
that raises, goes on without end, fails on our account or changes something though it was refused is
a finding, and ends the attack on its id. Text worlds get a million calls together, those that draw
or run code fifty thousand; large worlds fewer than others, since after each call they are compared
whole.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from _harness import Figures, Run, Suite, at_most

from healthgym.registration import TABLE

#: Calls by a word of the id, the first that fits; of others :data:`_USUAL`.
CALLS: Mapping[str, int] = {
    "Xray": 5_000,
    "CtAbnormality": 5_000,
    "TumorArea": 5_000,
    "EhrDataQuality": 5_000,
    "EhrEventModelling": 5_000,
    "EhrFormatConversion": 10_000,
    "Marathon": 10_000,
    "Arena": 20_000,
    "UtilizationManagement": 20_000,
    "PriorAuthorization": 50_000,
    "CareManagement": 50_000,
}
_USUAL = 100_000
_FEWEST = 60

suite = Suite("hostile", __doc__)
suite.parser.add_argument("--share", type=float, default=1.0, help="of the calls")
suite.parser.add_argument("--attack", type=int, default=1, help="seed of the attacks")


def attack(env_id: str, run: Run) -> Figures:
    """Attack the tools of an environment."""
    from healthgym.errors import ConformanceError
    from healthgym.testing import check_total

    most = next((calls for word, calls in CALLS.items() if word in env_id), _USUAL)
    calls = _FEWEST if run.quick else max(_FEWEST, int(most * run.options.share))
    told: Figures = {"calls": calls, "seed": run.options.attack, "findings": 0, "found": ""}
    try:
        done = check_total(env_id, calls, seed=run.options.attack)
    except ConformanceError as finding:
        return {**told, "findings": 1, "found": str(finding)}
    return {**told, "carried_out": done, "carried_out_share": round(done / calls, 3)}


for row in TABLE:
    suite.measure(row.id, bounds={"findings": at_most(0)})(partial(attack, row.id))


if __name__ == "__main__":
    raise SystemExit(suite.main())
