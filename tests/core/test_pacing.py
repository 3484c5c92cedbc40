"""Many threads at one endpoint: never more requests than it bears, no deadlock, and no overrun."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress

import httpx
import pytest

from healthgym.core.chat_client import ChatClient
from healthgym.core.endpoint import Endpoint, TextMessage
from healthgym.core.pacing import FIRST, Pace
from healthgym.core.spending import Budget, Prices
from healthgym.errors import BudgetExceededError, EndpointError, EndpointRefusedError

#: Seconds after which a run of threads is taken for stuck.
PATIENCE = 60.0
HELLO = [TextMessage("user", "hello")]


class Gauge:
    """Counts how many are inside at the same time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.now = self.most = self.all = 0

    def __enter__(self) -> None:
        with self._lock:
            self.now += 1
            self.all += 1
            self.most = max(self.most, self.now)

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self.now -= 1


def in_threads(count: int, work: Callable[[int], None]) -> None:
    """Run work(0) to work(count - 1) at the same time; fail if some never ends."""
    pool = ThreadPoolExecutor(count)
    try:
        done, stuck = wait([pool.submit(work, n) for n in range(count)], timeout=PATIENCE)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
    assert not stuck, f"{len(stuck)} of {count} threads are stuck"
    for each in done:
        each.result()


def test_no_more_begin_than_the_limit_says() -> None:
    pace, gauge = Pace(12), Gauge()
    begun_above: list[int] = []

    def work(_: int) -> None:
        for _ in range(20):
            with pace.turn() as turn, gauge:
                if gauge.now > 12:
                    begun_above.append(gauge.now)
                time.sleep(0.0005)
                turn.crowded = False

    in_threads(40, work)
    assert not begun_above
    assert FIRST < gauge.most <= 12
    assert (gauge.all, gauge.now, pace.cuts) == (800, 0, 0)
    assert pace.limit == 12


def test_it_finds_what_an_endpoint_bears() -> None:
    bears, pace, gauge = 5, Pace(64), Gauge()
    limits: list[int] = []

    def work(_: int) -> None:
        for _ in range(25):
            with pace.turn() as turn, gauge:
                crowded = gauge.now > bears
                time.sleep(0.0005)
                turn.crowded = crowded
            limits.append(pace.limit)

    in_threads(32, work)
    assert pace.cuts > 0
    assert max(limits[len(limits) // 2 :]) <= 2 * bears
    assert gauge.most <= FIRST + 1


def test_the_limit_never_falls_below_one() -> None:
    pace, gauge = Pace(16), Gauge()

    def work(_: int) -> None:
        for _ in range(10):
            with pace.turn() as turn, gauge:
                turn.crowded = True

    in_threads(30, work)
    assert (pace.limit, gauge.all) == (1, 300)


def test_what_was_on_its_way_at_a_halving_halves_nothing_again() -> None:
    pace = Pace(8)
    turns = [pace.turn() for _ in range(8)]
    for turn in turns:
        turn.__enter__()
    for turn in turns:
        turn.crowded = True
        turn.__exit__(None, None, None)
    assert (pace.limit, pace.cuts) == (4, 1)


def test_errors_give_their_places_back() -> None:
    pace = Pace(3)

    def failing(crowded: bool | None) -> None:
        with pace.turn() as turn:
            turn.crowded = crowded
            raise KeyError

    def work(n: int) -> None:
        for _ in range(20):
            with pytest.raises(KeyError):
                failing((None, True, False)[n % 3])

    in_threads(24, work)
    with pace.turn(), ThreadPoolExecutor(1) as pool:
        if pace.limit > 1:
            pool.submit(lambda: pace.turn().__enter__()).result(PATIENCE)


def test_a_wait_that_is_broken_off_gives_its_place_back() -> None:
    def broken(seconds: float) -> None:
        raise KeyboardInterrupt

    pace = Pace(1, broken)
    pace.hold(60.0)
    for _ in range(3):
        with pytest.raises(KeyboardInterrupt), pace.turn():
            raise AssertionError("begun while all are to wait")
    with pace.turn(again=True):
        pass


def test_all_wait_where_one_is_told_to() -> None:
    pace, begun = Pace(8), []
    pace.hold(0.2)
    until = time.monotonic() + 0.2

    def work(_: int) -> None:
        with pace.turn():
            begun.append(time.monotonic())

    in_threads(8, work)
    assert min(begun) >= until - 0.01


def test_a_wait_that_grows_meanwhile_is_waited_out() -> None:
    slept: list[float] = []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        if len(slept) < 3:
            pace.hold(10.0 * (len(slept) + 1))

    pace = Pace(4, sleep)
    pace.hold(10.0)
    with pace.turn():
        pass
    assert [round(each) for each in slept] == [10, 20, 30]


def test_a_request_that_waited_speaks_for_the_limit_of_its_beginning() -> None:
    """It was not on its way when the limit was halved, so what it finds is new."""
    pace: Pace

    def sleep(seconds: float) -> None:
        with pace.turn(again=True) as other:
            other.crowded = True

    pace = Pace(8, sleep)
    pace.hold(10.0)
    with pace.turn() as turn:
        turn.crowded = True
    assert (pace.limit, pace.cuts) == (2, 2)


def answered(tokens: int = 100) -> httpx.Response:
    body = {
        "choices": [{"message": {"role": "assistant", "content": "hi"}}],
        "usage": {"prompt_tokens": tokens, "completion_tokens": tokens},
    }
    return httpx.Response(200, json=body)


@pytest.mark.parametrize(
    ("budget", "most"),
    [
        (Budget(requests=20), 20),
        (Budget(tokens=4_000), 20),
        (Budget(usd=4.0), 20),
    ],
)
def test_a_ceiling_is_passed_by_no_more_than_what_was_on_its_way(budget: Budget, most: int) -> None:
    gauge, workers, concurrency = Gauge(), 24, 6

    def handle(request: httpx.Request) -> httpx.Response:
        with gauge:
            time.sleep(0.002)
            return answered()

    endpoint = Endpoint(
        "http://localhost/v1", "m", prices=Prices(1000.0, 1000.0), concurrency=concurrency
    )
    stopped = []
    with ChatClient(endpoint, budget=budget, transport=httpx.MockTransport(handle)) as client:

        def work(_: int) -> None:
            try:
                for _ in range(50):
                    client.complete(HELLO)
            except BudgetExceededError:
                stopped.append(True)

        in_threads(workers, work)
    assert len(stopped) == workers
    assert gauge.most <= concurrency
    assert most <= gauge.all <= most + concurrency - 1
    assert client.meter.total.requests == gauge.all
    assert client.meter.total.usd == pytest.approx(0.2 * gauge.all)


def test_a_server_that_fails_in_every_way_stops_nobody() -> None:
    """Threads of one client meet all failures at once, and all of them come back."""
    count, lock = [0], threading.Lock()
    answers = (
        lambda: answered(),
        lambda: httpx.Response(429, headers={"Retry-After": "0"}, json={"error": "slow down"}),
        lambda: httpx.Response(503, text="no"),
        lambda: httpx.Response(200, text="{"),
        lambda: httpx.Response(200, json={"choices": []}),
        lambda: httpx.Response(400, json={"error": {"message": "no"}}),
        lambda: answered(-5),
    )

    def handle(request: httpx.Request) -> httpx.Response:
        with lock:
            count[0] += 1
            number = count[0]
        if number % 11 == 0:
            raise httpx.ReadTimeout("late")
        return answers[number % len(answers)]()

    endpoint = Endpoint("http://localhost/v1", "m", retries=2, backoff=0.0, concurrency=8)
    come_back = []
    with ChatClient(endpoint, transport=httpx.MockTransport(handle)) as client:

        def work(_: int) -> None:
            for _ in range(10):
                with suppress(EndpointError):
                    client.complete(HELLO)
                come_back.append(True)

        in_threads(32, work)
        assert len(come_back) == 320
        assert 1 <= client.pace.limit <= 8
        total = client.meter.total
    assert total.prompt_tokens > 0
    assert total.requests <= count[0]


def test_a_closed_door_is_told_to_every_thread() -> None:
    def handle(request: httpx.Request) -> httpx.Response:
        return httpx.Response(401, content=json.dumps({"error": {"message": "no key"}}))

    endpoint = Endpoint("http://localhost/v1", "m", concurrency=2)
    with ChatClient(endpoint, transport=httpx.MockTransport(handle)) as client:

        def work(_: int) -> None:
            with pytest.raises(EndpointRefusedError, match="no key"):
                client.complete(HELLO)

        in_threads(16, work)
