"""Models behind protocols: embed/, rerank/ and llm/, a file for each vendor in each, and `read`.

`base` holds the protocols, `registry` which vendor a setting names, `http` what all share. Nothing
else knows a vendor's name.
"""
