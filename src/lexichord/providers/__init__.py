"""Models behind protocols: embed/, rerank/ and llm/, `read`, and a module for each other vendor.

`base` holds the protocols, `registry` which vendor a setting names, `http` what all share. Nothing
else knows a vendor's name.
"""
