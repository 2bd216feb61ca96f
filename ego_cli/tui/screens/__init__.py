"""Full screens over the chat: product, comparison, catalogue, memory, quiz, evaluation runs, settings, help."""
