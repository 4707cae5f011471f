"""What every call checks of the options that it was given."""

from collections.abc import Mapping

from lexichord.errors import ConfigError


def no_other_options(options: Mapping[str, object], known: type) -> None:
    """Raise ConfigError for an option that nobody reads."""
    if unknown := set(options).difference(known.__annotations__):
        raise ConfigError(f"there is no option {', '.join(sorted(unknown))}")


def no_single_text(**given: object) -> None:
    """Raise ConfigError for one text where several are taken, not to read it letter by letter."""
    for name, value in given.items():
        if isinstance(value, str | bytes):
            raise ConfigError(f"{name} takes a list: write {name}=[{value!r}]")
