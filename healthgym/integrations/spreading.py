"""Work on blocks of tasks, spread over the processes of a cluster of Ray's."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Generic, TypeVar

from healthgym.core.optional import require
from healthgym.errors import ConfigurationError
from healthgym.version import __version__

#: Bytes for what processes hand over, where Ray is started here; its own choice is a third of all.
_STORE = 200 * 2**20
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Cluster:
    """Where work is done.

    Attributes:
        address: Address of a running cluster, or ``auto`` for the one that this machine is part of.
            Empty starts one on this machine, for as long as it is needed.
        actors: Number of processes; as many as the cluster has cores if None.
        cores: Cores that each of them counts for.
        block: Most tasks handed over at a time. Fewer lose less where a process dies, and spread
            better over many; each block makes its environment anew, which takes milliseconds.

    Raises:
        ConfigurationError: If a number is too small.
    """

    address: str = ""
    actors: int | None = None
    cores: float = 1
    block: int = 16

    def __post_init__(self) -> None:
        if min(self.block, 1 if self.actors is None else self.actors) < 1 or self.cores <= 0:
            raise ConfigurationError("actors and block are at least 1, and cores more than 0.")


class _Actor(Generic[_T]):
    """A process that works on one block after the other."""

    def __init__(self, version: str, begin: Callable[[], Callable[[range], _T]]) -> None:
        if version != __version__:
            raise ConfigurationError(
                f"A process of the cluster has healthgym {__version__}, and this one {version}."
            )
        self._work = begin()

    def run(self, block: range) -> _T:
        return self._work(block)


def spread(
    cluster: Cluster, begin: Callable[[], Callable[[range], _T]], blocks: Iterable[range]
) -> Generator[tuple[range, _T | None], None, None]:
    """Yield blocks of task indices, with what came of each, in the order in which they end.

    Args:
        cluster: Where the work is done.
        begin: Returns what works on a block; called once in each process.
        blocks: The blocks. The next is taken when a process is free for it.

    Yields:
        The block, and what came of it; None if the processes that worked on it died twice.

    Raises:
        ConfigurationError: If there is no such cluster.
        MissingDependencyError: If Ray is not installed.
        Exception: Whatever the work raised.
    """
    with _joined(cluster) as ray:
        actor = ray.remote(num_cpus=cluster.cores)(_Actor)
        count = cluster.actors or max(1, int(ray.cluster_resources().get("CPU", 1) / cluster.cores))
        ahead, again = iter(blocks), deque[range]()
        free: list[Any] = []
        busy: dict[Any, tuple[Any, range]] = {}
        repeated: set[range] = set()
        try:
            while True:
                # An actor is made for its first block: there may be fewer blocks than actors.
                while len(busy) < count:
                    block = again.popleft() if again else next(ahead, None)
                    if block is None:
                        break
                    worker = free.pop() if free else actor.remote(__version__, begin)
                    busy[worker.run.remote(block)] = worker, block
                if not busy:
                    return
                (done,), _ = ray.wait(list(busy), num_returns=1)
                worker, block = busy.pop(done)
                try:
                    found = ray.get(done)
                except ray.exceptions.RayTaskError:
                    raise
                except ray.exceptions.RayError:
                    if block in repeated:
                        yield block, None
                    else:
                        repeated.add(block)
                        again.append(block)
                    continue
                free.append(worker)
                yield block, found
        finally:
            for worker in (*free, *(worker for worker, _ in busy.values())):
                ray.kill(worker)


@contextmanager
def _joined(cluster: Cluster) -> Iterator[ModuleType]:
    """Be part of a cluster, and leave it again if it was joined here."""
    # What is evaluated here is nobody else's business, unless somebody says so.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    ray = require("ray", extra="ray", purpose="A cluster")
    joins = not ray.is_initialized()
    if joins:
        own = {"include_dashboard": False, "object_store_memory": _STORE}
        try:
            ray.init(
                address=cluster.address or "local",
                log_to_driver=False,
                logging_level="error",
                **({} if cluster.address else own),
            )
        except ConnectionError as error:
            raise ConfigurationError(
                f"There is no cluster of Ray's at {cluster.address}: {error}"
            ) from None
    try:
        yield ray
    finally:
        if joins:
            ray.shutdown()


def blocks_of(indices: Sequence[int], most: int) -> Iterator[range]:
    """Yield ranges of at most so many indices that follow one another."""
    begin = 0
    for place in range(1, len(indices) + 1):
        ends = place == len(indices) or indices[place] != indices[place - 1] + 1
        if ends or place - begin == most:
            yield range(indices[begin], indices[place - 1] + 1)
            begin = place
