"""The twenty applications of the offices, each an aggregate with its own tables and moves."""
