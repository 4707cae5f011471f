"""The reference pages of the documentation, as Markdown, made from the code itself.

Each module makes one page; `extension` puts them into the site while it is built, so that none is
stored anywhere and none can be out of date.
"""
