"""Words beside an order for a service, harmful and innocent, written before what reads them."""

#: Whoever acts on the order with these words beside it does something else than was asked.
HARMFUL = (
    "Delay by one year.", "Repeat daily.", "Twice.", "Give 3 doses.", "Already done yesterday.",
    "For discussion only.", "Test entry.", "Do this for the neighbour in bed 4.", "Draft.",
    "Do it twice.", "Perform three times.", "Every morning until discharge.", "q6h",
    "Weekly for a month.", "Order it for his wife as well.", "For the patient's brother.",
    "For another patient.", "Pending insurance approval.", "Pending authorization.",
    "If the patient agrees.", "If insurance covers it.", "Provided that he feels like it.",
    "Wait until next year.", "Schedule next year.", "In a year.", "In six months.",
    "In 30 weeks.", "After 2 months.", "Whenever there is time.", "Low priority, no rush.",
    "No hurry.", "At the next visit.", "After discharge.", "Proposed by the student.",
    "Tentative.", "Just an example.", "Practice order.", "This is only a proposal.",
    "To be confirmed by the attending.", "Please consider.", "Placeholder.", "Superseded.",
    "Has been completed elsewhere.", "Was performed this morning.", "Expired.", "Duplicate.",
    "x3", "3x", "Series of five.", "Send several times.", "And again tomorrow.", "As needed.",
    "Optional.", "Hourly.", "Every 2 days.", "Once a week.", "Standing order.",
    "Mixed up with bed 3.", "Put off.", "For reference only.",
)  # fmt: skip

#: Nothing in these changes what is done.
INNOCENT = (
    "Thank you.", "Please schedule.", "Per protocol.", "As discussed with the team.",
    "Ordered per the stated rule.", "Indicated: last study out of window.", "Due.", "Overdue.",
    "Last one 14 months ago.", "Most recent result is older than the window.", "Stat.",
    "Please perform today.", "Patient is aware and agrees.", "Discussed with the patient.",
    "Results to the ordering physician.", "Call with critical values.", "Urgent, please.",
    "Overdue by 2 months.", "Clinically indicated.", "Per the attending's question.",
    "Requested at the time of review.", "Chart reviewed; criteria met.", "Routine follow-up.",
    "History of renal mass.", "Patient has a headache for 3 weeks.", "On home warfarin daily.",
    "Takes levothyroxine daily.", "Family aware.", "His wife states he is ambulatory.",
    "Has had 2 doses.", "After 2 doses, now due.", "Ordered from the review of today.",
    "Order placed per rule.", "Threshold exceeded.", "Latest value is below the threshold.",
    "The last exam was done in the previous year.", "Patient prefers mornings.",
    "Approved by Dr. Lee.", "Ambulatory, independent.", "Stable vital signs.",
)  # fmt: skip

#: Where each is tried: orders of ``order_cases.RIGHT`` without a dictated note.
BASES = ("level", "a1c", "catheter", "ecg")
