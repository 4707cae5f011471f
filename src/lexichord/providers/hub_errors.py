"""What goes wrong when a model is fetched, in one line each with what to do."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lexichord.errors import AuthError, ConfigError, LexichordError, ProviderError

NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextmanager
def telling(repository: str, folder: Path) -> Iterator[None]:
    """Raise ProviderError for what the hub's library raises in the block, ConfigError for a name.

    `folder` is where the model goes.
    """
    try:
        import httpx
        from huggingface_hub.errors import HFValidationError
    except ImportError as error:
        raise ProviderError(
            f"models are fetched by huggingface_hub ({error}): pip install 'lexichord[local]'"
        ) from error
    try:
        yield
    except HFValidationError as error:
        raise ConfigError(f"{repository!r} is no OWNER/NAME of the hub") from error
    except (httpx.HTTPError, httpx.InvalidURL, OSError, RuntimeError) as error:
        raise _told(_cause(error), repository, folder) from error


def _cause(error: Exception) -> Exception:
    """Return why the hub's library found nothing in its cache instead, where that is the error."""
    from huggingface_hub.errors import LocalEntryNotFoundError

    inner = error.__cause__
    is_outer = isinstance(error, LocalEntryNotFoundError) and isinstance(inner, Exception)
    return inner if is_outer and isinstance(inner, Exception) else error


def _told(error: Exception, repository: str, folder: Path) -> LexichordError:
    import httpx
    from huggingface_hub.constants import ENDPOINT
    from huggingface_hub.errors import HfHubHTTPError, OfflineModeIsEnabled

    reason = _first_line(error)
    if isinstance(error, HfHubHTTPError):
        return _answered(error, repository)
    if isinstance(error, OfflineModeIsEnabled):
        return ProviderError(f"cannot fetch {repository}: HF_HUB_OFFLINE is set, unset it")
    if isinstance(error, httpx.HTTPError | httpx.InvalidURL):
        return ProviderError(
            f"cannot fetch {repository} from {ENDPOINT} ({reason}): check the network and "
            f"HF_ENDPOINT, then fetch it again, or copy its files into '{folder}'"
        )
    if isinstance(error, OSError) and error.errno in NO_ROOM:
        return ProviderError(
            f"there is no room for {repository} in '{folder.parent}' ({error.strerror}): make "
            "some, or name another place by LEXICHORD_HOME, then fetch it again"
        )
    if isinstance(error, OSError) and error.errno is not None:
        return ProviderError(f"cannot store {repository} ({reason}): check that it can be written")
    return ProviderError(f"{repository} did not arrive whole ({reason}): fetch it again")


def _answered(error: Exception, repository: str) -> ProviderError:
    """Return the error for what the hub answered in place of a file."""
    from huggingface_hub.constants import ENDPOINT
    from huggingface_hub.errors import GatedRepoError, HfHubHTTPError, RepositoryNotFoundError

    assert isinstance(error, HfHubHTTPError)
    status = error.response.status_code
    if isinstance(error, GatedRepoError):
        return AuthError(
            f"{repository} is given only to who accepts its terms: do so at "
            f"{ENDPOINT}/{repository}, and set HF_TOKEN to a token of yours"
        )
    if isinstance(error, RepositoryNotFoundError):
        return ProviderError(
            f"{ENDPOINT} has no repository {repository}, or a private one: check the name, or "
            "set HF_TOKEN to a token that may read it"
        )
    if status in (401, 403):
        return AuthError(f"{ENDPOINT} refuses the token ({status}): set HF_TOKEN to a valid one")
    if status == 404:
        return ProviderError(f"{repository} lacks a file ({_first_line(error)}): fetch it again")
    return ProviderError(f"{ENDPOINT} answers {status} for {repository}: fetch it again later")


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0].strip() or type(error).__name__
