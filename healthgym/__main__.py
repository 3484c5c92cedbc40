"""``python -m healthgym``: the command line."""

import sys

from healthgym.cli import main

sys.exit(main())
