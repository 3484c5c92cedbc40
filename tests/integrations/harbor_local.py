"""Harbor's interface of an environment, on folders instead of containers."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from pathlib import Path
from typing import Any

from harbor.environments.base import BaseEnvironment, ExecResult

from tests.integrations.harbor_container import Container


class LocalEnv(BaseEnvironment):
    """Each environment has a folder; users and networks are not kept apart."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.container = Container(Path(tempfile.mkdtemp(prefix="harbor-")))

    @staticmethod
    def type() -> str:
        return "local"

    def _validate_definition(self) -> None:
        assert (self.environment_dir / "Dockerfile").is_file()

    async def start(self, force_build: bool) -> None:
        self.container.build(self.environment_dir)

    async def stop(self, delete: bool) -> None:
        shutil.rmtree(self.container.root, ignore_errors=True)

    async def upload_file(self, source_path: Path | str, target_path: str) -> None:
        self.container.put(Path(source_path), target_path)

    async def upload_dir(self, source_dir: Path | str, target_dir: str) -> None:
        self.container.put(Path(source_dir), target_dir)

    async def download_file(self, source_path: str, target_path: Path | str) -> None:
        Path(target_path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(self.container.at(source_path), target_path)

    async def download_dir(self, source_dir: str, target_dir: Path | str) -> None:
        shutil.copytree(self.container.at(source_dir), target_dir, dirs_exist_ok=True)

    async def exec(
        self,
        command: str,
        cwd: str | None = None,
        env: dict[str, str] | None = None,
        timeout_sec: int | None = None,
        user: str | int | None = None,
    ) -> ExecResult:
        done = await asyncio.to_thread(self.container.run, command, env)
        return ExecResult(stdout=done.stdout, stderr=done.stderr, return_code=done.returncode)
