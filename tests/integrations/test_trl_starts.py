"""``healthgym train ID`` begins on every id, as it comes and as small as can be."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from healthgym.integrations.trl.command import main
from healthgym.registration import ids

pytest.importorskip("trl")

#: Ids that a model made in the run cannot be trained on, and what the command says then.
REFUSED: Mapping[str, str] = {
    "HealthAgent/EhrFormatConversionCanonical-v1": "a run needs both",
}
#: A run in which every stage is done, and nothing learned.
TINY = (
    "--quick", "--no-control", "--demos", "12", "--sft-steps", "1", "--sft-batch", "2",
    "--copy-steps", "0", "--grpo-steps", "1", "--episodes", "1",
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("env_id", ids())
def test_every_id_begins_to_train(
    env_id: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status = main([env_id, *TINY, "--out", str(tmp_path / "run")])
    told = capsys.readouterr()
    if env_id in REFUSED:
        assert status == 2
        assert REFUSED[env_id] in told.err
    else:
        assert status == 0, told.err
        assert (tmp_path / "run" / "report.html").is_file()
