"""Catching what never ends: a call that takes more of the processor than any honest one."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


class EndlessError(BaseException):
    """A call took too much of the processor.

    No :class:`Exception`: what catches those on an agent's account must not catch this.
    """


@contextmanager
def processor_seconds(most: float) -> Iterator[None]:
    """Break off what takes longer, even a search for a pattern.

    Processor time and not a clock's: a loaded machine changes nothing. In threads other than the
    main one, where no signal arrives, and on systems without such timers nothing is broken off.

    Args:
        most: Seconds of processor time of this process, all its threads together.

    Raises:
        EndlessError: If it took longer.
    """
    in_main = threading.current_thread() is threading.main_thread()
    if not (in_main and hasattr(signal, "setitimer")):
        yield
        return

    def stop(*_: object) -> None:
        raise EndlessError(f"It took more than {most:g} s of the processor.")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, most)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
