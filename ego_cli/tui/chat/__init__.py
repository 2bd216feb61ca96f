"""The conversation: what was said, the cards that answer it, and the line to write on."""
