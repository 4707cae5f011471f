"""Shapes and addresses of other makers: Dify, OpenAI, kbbridge, ChatGPT, simple HTTP."""
