"""The process that holds the sandbox, as its parent sees it."""

from __future__ import annotations

import json
import os
import pickle
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from healthgym.core.borders import JsonDict
from healthgym.errors import InfrastructureError
from healthgym.worlds.workspace.pools import Own, Pool
from healthgym.worlds.workspace.python_worker import processor_time, too_late
from healthgym.worlds.workspace.reaper import reaper
from healthgym.worlds.workspace.sql_process import PATIENCE

#: Memory the process may allocate, in bytes; the sandbox has its own bound in it.
_PROCESS_MEMORY = 4 << 30
_STARTUP = 60.0
_TICK = 0.05
#: What is needed to find the sandbox's program.
_PASSED = ("MONTY_BIN", "PATH")
#: Sets of texts have one order, and threads do not each claim memory of their own.
_ENVIRONMENT = {"PYTHONHASHSEED": "0", "MALLOC_ARENA_MAX": "2"}
#: Answers a call: by what it returned, or by what it was refused for.
Answer = Callable[[JsonDict], JsonDict]


class CodeProcess:
    """The parent's end of a process that runs code, one program at a time."""

    def __init__(self) -> None:
        self._child: subprocess.Popen[bytes] | None = None
        self._channel: socket.socket | None = None

    def run(self, request: JsonDict, answer: Answer, seconds: float) -> JsonDict:
        """Run a program.

        Args:
            request: What the worker is told.
            answer: Answers its calls.
            seconds: Time of one processor that the worker may take for what the code makes.

        Raises:
            InfrastructureError: If the process does not start.
            Exception: If a call's answer fails.
        """
        if self._child is None or self._child.poll() is not None:
            self._start()
        try:
            return self._serve(request, answer, seconds)
        except TimeoutError:
            self.stop()
            return {"error": too_late(seconds), "late": True}
        except (OSError, EOFError):
            self.stop()
            return {"error": "MemoryError: what the code made is too large to leave the sandbox."}
        except BaseException:
            self.stop()  # it waits for an answer that will not come
            raise

    def _serve(self, request: JsonDict, answer: Answer, seconds: float) -> JsonDict:
        assert self._child is not None
        until = processor_time(self._child.pid) + seconds
        self._send(request)
        while True:
            message = self._receive(until, 2 * PATIENCE * seconds)
            if "worker" in message:
                if (watcher := reaper()) is not None and message["worker"]:
                    watcher.watch(int(message["worker"]))
            elif "call" in message:
                self._send(answer(message))
            else:
                if message.get("spent"):
                    self.stop()
                return message

    def stop(self) -> None:
        """End the process and its workers, if it runs; the next program starts another."""
        if self._channel is not None:
            self._channel.close()
        if self._child is not None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._child.pid, signal.SIGKILL)
            self._child.kill()
            self._child.wait()
        self._channel = self._child = None

    def _start(self) -> None:
        self.stop()
        ours, theirs = socket.socketpair()
        number = theirs.fileno()
        script = Path(__file__).with_name("python_worker.py")
        command = [sys.executable, "-s", "-P", "-W", "ignore", str(script)]
        passed = {name: os.environ[name] for name in _PASSED if name in os.environ}
        with theirs:
            self._child = subprocess.Popen(
                [*command, str(number), str(_PROCESS_MEMORY)], pass_fds=[number],
                env={**passed, **_ENVIRONMENT}, cwd="/", stdin=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL, start_new_session=True,
            )  # fmt: skip
        self._channel = ours
        if (watcher := reaper()) is not None:
            watcher.watch(self._child.pid)
        try:
            message = self._receive(float("inf"), _STARTUP)
        except (OSError, EOFError) as error:
            self.stop()
            raise InfrastructureError("The Python sandbox does not start.") from error
        if "fault" in message:
            self.stop()
            raise InfrastructureError(f"The Python sandbox does not start: {message['fault']}")

    def _send(self, message: JsonDict) -> None:
        assert self._channel is not None
        body = pickle.dumps(message)
        self._channel.settimeout(_STARTUP)
        self._channel.sendall(struct.pack("!Q", len(body)) + body)

    def _receive(self, until: float, patience: float) -> JsonDict:
        """Return the next message.

        Args:
            until: Time of the processor at which the process has had its share.
            patience: Seconds it may take on the clock.

        Raises:
            TimeoutError: If it takes longer.
            EOFError: If the process has ended.
        """
        end = time.monotonic() + patience
        (size,) = struct.unpack("!Q", self._read(8, until, end))
        message: JsonDict = json.loads(self._read(size, until, end))
        return message

    def _read(self, size: int, until: float, end: float) -> bytes:
        assert self._channel is not None
        assert self._child is not None
        self._channel.settimeout(_TICK)
        data = bytearray(size)
        view = memoryview(data)
        while view:
            try:
                count = self._channel.recv_into(view)
            except TimeoutError:
                if processor_time(self._child.pid) > until or time.monotonic() > end:
                    raise
                continue
            if not count:
                raise EOFError
            view = view[count:]
        return bytes(data)


POOL = Own(lambda: Pool(CodeProcess))


def run_code(request: JsonDict, answer: Answer, seconds: float) -> JsonDict:
    """Run a program in a process that waits for one; see :meth:`CodeProcess.run`."""
    with POOL.get().lent() as process:
        return process.run(request, answer, seconds)
