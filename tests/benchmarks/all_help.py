"""Ask scripts for their help, all in one process: what each says, by its path, as JSON."""

from __future__ import annotations

import contextlib
import io
import json
import runpy
import sys

if __name__ == "__main__":
    told: dict[str, str] = {}
    for script in list(sys.argv[1:]):
        sys.argv = [script, "--help"]
        said = io.StringIO()
        with contextlib.redirect_stdout(said), contextlib.suppress(SystemExit):
            runpy.run_path(script, run_name="__main__")
        told[script] = said.getvalue()
    sys.stdout.write(json.dumps(told))
