"""A case as a page to look at: what happened when, by whom and why, beside the policy."""
