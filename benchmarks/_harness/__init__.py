"""What the benchmark scripts share: a suite of measures, clocks and memory, and played policies."""

from _harness.playing import make, mean_scores, play, play_script, profile_scores, with_prefix
from _harness.suite import Bound, Figures, Run, Suite, at_least, at_most, in_fresh_process
from _harness.timing import (
    Timing,
    alternate,
    once,
    peak_mib,
    reference_work,
    resident_mib,
    timed,
)

__all__ = [
    "Bound",
    "Figures",
    "Run",
    "Suite",
    "Timing",
    "alternate",
    "at_least",
    "at_most",
    "in_fresh_process",
    "make",
    "mean_scores",
    "once",
    "peak_mib",
    "play",
    "play_script",
    "profile_scores",
    "reference_work",
    "resident_mib",
    "timed",
    "with_prefix",
]
