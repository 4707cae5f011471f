"""One file a vendor; nothing else knows a vendor's name."""
