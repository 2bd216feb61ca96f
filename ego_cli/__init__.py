"""ego: a conversational shopping assistant for the terminal."""

__version__ = "0.1.0"
