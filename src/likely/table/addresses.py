"""Addresses of databases: what may be shown of them, and what must never be. Knows text only; opens nothing."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from urllib.parse import unquote_plus

from likely.errors import InputError, shown

_ADDRESS = re.compile(r"^([A-Za-z][A-Za-z0-9+.-]*)://(.*)$", re.DOTALL)
_SECRET = re.compile(r"(?:^|[\s;?&,])(?:\w*password|passwd|pwd|passfile|token|secret)\s*=", re.IGNORECASE)
_SHORT = 4
"""A secret of fewer characters cannot be taken out of a sentence without spoiling it: the sentence is left out."""


@dataclass(frozen=True)
class Address:
    """Where a database is. `shown` leaves user, password and options out; `whole` is for its driver alone."""

    scheme: str
    whole: str = field(repr=False)
    shown: str
    secrets: tuple[str, ...] = field(repr=False, default=())

    def mask_secrets(self, message: object) -> str:
        """What a driver says, on one line, without anything that only this address knows."""
        text = str(message)
        for secret in self.secrets:
            if secret not in text and " ".join(secret.split()) not in " ".join(text.split()):
                continue
            if len(" ".join(secret.split())) < _SHORT:
                return "its message is left out, as it may hold the password"
            text = " ".join(text.replace(secret, "***").split()).replace(" ".join(secret.split()), "***")
        return " ".join(text.split())


def parse_address(text: str) -> Address | None:
    """The parts of scheme://user:password@host/name?option=value; None for what is no address."""
    match = _ADDRESS.match(text)
    if match is None:
        return None
    scheme, rest = match[1].lower(), match[2]
    # Whoever forgets to encode a slash or an @ of a password must not see the half of it in a sentence.
    private, at, public = rest.rpartition("@")
    if not at:
        public = rest
    place, _, options = public.partition("?")
    place = place.partition("#")[0]
    name = f"{scheme}://{place}"
    if re.search(r"[/?#@\s]", private) or re.search(r"%(?![0-9A-Fa-f]{2})", private):
        raise InputError(
            f"The user or password in the address of {shown(name, 100)} holds a character that must be written "
            "otherwise there: %40 for the at sign, %2F for /, %3A for :, %3F for ?, %23 for #, %25 for %."
        )
    password = private.partition(":")[2]
    values = [value.partition("=")[2] for value in re.split("[&;]", options)]
    # The user is no secret to a sentence of the database itself, but the address as a whole is.
    raw = [text, private if password else "", password, options, *values]
    secrets = {s for value in raw for s in (value, unquote_plus(value), unquote_plus(value.replace("+", "%2B"))) if s}
    return Address(scheme, text, name, tuple(sorted(secrets, key=lambda s: (-len(s), s))))


def refuse_connection_string(text: str) -> None:
    """Refuse what is no address but the way other programs say where a database is; it is not shown, for its password.

    >>> refuse_connection_string("host=db password=hunter2")
    Traceback (most recent call last):
    ...
    likely.errors.InputError: This is a connection string with a password, which cannot be read ...
    """
    jdbc = text[:5].lower() == "jdbc:"
    if jdbc or _SECRET.search(text):
        what = "an address of JDBC" if jdbc else "a connection string with a password"
        raise InputError(
            f"This is {what}, which cannot be read (it is not shown here, as it may hold a secret). "
            "Write where the database is as an address: postgresql://user:password@host/name."
        )
