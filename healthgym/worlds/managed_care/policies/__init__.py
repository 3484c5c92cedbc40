"""Coverage policies: typed criteria, what a chart shows of them, and every text made of them."""
