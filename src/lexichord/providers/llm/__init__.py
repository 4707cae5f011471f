"""Language models: a task and its inputs in, a typed result out."""
