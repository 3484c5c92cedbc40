"""An episode of care management, from the referral to the plan, or to a refusal that is kept."""
