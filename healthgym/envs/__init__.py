"""Task families, one folder each, and what their environments share."""

from healthgym.envs.declared import Common, DeclaredEnv

__all__ = ["Common", "DeclaredEnv"]
