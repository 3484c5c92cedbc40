"""What the faces that are served over a network share: who is let in, and how much of them."""

from healthgym.integrations.serving.gate import Gate, Limits
from healthgym.integrations.serving.running import serve_app

__all__ = ["Gate", "Limits", "serve_app"]
