"""kbbridge's six tools and four prompts, under their names and with their parameters."""
