"""Episodes for people to look at: transcripts, pictures and pages. The engine needs none of it."""
