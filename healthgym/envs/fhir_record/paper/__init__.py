"""The published graders, re-specified from their documented behaviour."""
