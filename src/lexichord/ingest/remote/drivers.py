"""fsspec's drivers, imported when an address asks for one; what they say in one line."""

import re
from collections.abc import Callable
from concurrent.futures import Future, wait
from importlib import import_module
from threading import Thread
from typing import TYPE_CHECKING, Any, NamedTuple

from lexichord.errors import ConfigError, IngestError
from lexichord.ingest.remote.address import HOSTED, RemoteAddress

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

MAX_REASON_CHARS = 300
DENIED = "permission denied"  # what SFTP's servers say
SIGNATURE = re.compile(r"((?:sig|signature|token|x-amz-\w+|x-goog-\w+|password)=)[^&\s\"']+", re.I)


class Driver(NamedTuple):
    """The module of a driver, the extra that brings it, and whether it lists a bucket at once."""

    module: str
    extra: str
    is_flat: bool = True


DRIVERS = {
    "s3": Driver("s3fs", "s3"),
    "gs": Driver("gcsfs", "gcs"),
    **dict.fromkeys(("az", "abfs", "abfss"), Driver("adlfs", "azure")),
    # Not fsspec's own over paramiko, which trusts any server that answers.
    "sftp": Driver("sshfs", "sftp", is_flat=False),
}
OWN_OPTIONS: dict[str, dict[str, Any]] = {
    # ~/.ssh/known_hosts decides, which sshfs alone would not ask; names may be no UTF-8.
    "sftp": {"known_hosts": (), "sftp_client_kwargs": {"path_errors": "surrogateescape"}},
}


class RefusedError(IngestError):
    """What will not come however often it is asked for: it is not there, or not for us."""


class SilentError(IngestError):
    """A server that does not answer."""


class MissingError(RefusedError):
    """What is not there."""


def driver_class(scheme: str) -> "type[AbstractFileSystem]":
    """Return the class of a scheme's driver. Raises ConfigError where it is not installed."""
    driver = DRIVERS.get(scheme)
    try:
        if driver:
            import_module(driver.module)
        import fsspec
        from fsspec.implementations.local import LocalFileSystem
    except ModuleNotFoundError as error:
        needed = f"'lexichord[{driver.extra}]'" if driver else f"fsspec and what reads {scheme}://"
        raise ConfigError(f"{scheme}:// needs {error.name}: pip install {needed}") from None
    try:
        found: type[AbstractFileSystem] = fsspec.get_filesystem_class(scheme)
    except (ImportError, ValueError) as error:
        raise ConfigError(f"{scheme}:// cannot be read: {one_line(error)}") from None
    if issubclass(found, LocalFileSystem):
        raise ConfigError(f"{scheme}://… is a file of this machine: name its path alone")
    return found


def connect(address: RemoteAddress) -> "AbstractFileSystem":
    """Return a driver that is logged in, and keeps no listing. Raises what the driver raises."""
    from fsspec.dircache import DirCache

    found = driver_class(address.scheme)
    given = address.options
    if address.scheme not in HOSTED:
        given = found._get_kwargs_from_urls(address.uri)
    options = {**OWN_OPTIONS.get(address.scheme, {}), **given}
    system = found(**options, skip_instance_cache=True)
    system.dircache = DirCache(use_listings_cache=False)
    return system


def base_path(address: RemoteAddress) -> str:
    """Return the path that an address names, as its driver writes it."""
    if address.scheme in HOSTED:
        return "/" + address.uri.partition("://")[2].partition("/")[2]
    return str(driver_class(address.scheme)._strip_protocol(address.uri))


def asked[T](address: RemoteAddress, seconds: float, call: Callable[[], T]) -> T:
    """Return what a driver returns within so long. Raises IngestError, ConfigError.

    Some drivers wait for ever; the thread of one that does is left behind.
    """
    done = Future[T]()
    Thread(target=_run, args=(done, call), daemon=True).start()
    if not wait([done], seconds).done:
        raise SilentError(f"does not come: the server has not answered for {seconds:g} s")
    try:
        return done.result()
    except (ConfigError, IngestError):
        raise
    except FileNotFoundError:
        raise MissingError("is not there") from None
    except PermissionError as error:
        raise RefusedError(f"may not be read: {one_line(error, address.secrets)}") from None
    except TimeoutError:
        raise SilentError("does not come: the server does not answer") from None
    except Exception as error:  # of each driver's own kinds
        said = one_line(error, address.secrets)
        if DENIED in said.lower():
            raise RefusedError(f"may not be read: {said}") from None
        raise IngestError(f"cannot be read: {said}") from None


def _run[T](done: "Future[T]", call: Callable[[], T]) -> None:
    try:
        done.set_result(call())
    except BaseException as error:  # handed on to who waits
        done.set_exception(error)


def one_line(error: BaseException, secrets: tuple[str, ...] = ()) -> str:
    """Return the first line of what an error says, without signatures and `secrets`."""
    said = next((line for line in str(error).splitlines() if line.strip()), "")
    for secret in secrets:
        said = said.replace(secret, "***")
    shown = SIGNATURE.sub(r"\1***", " ".join(said.split()))[:MAX_REASON_CHARS]
    return shown or type(error).__name__
