"""Whether somebody comes by a link that their platform gave them."""

from __future__ import annotations

import hmac
import re
import threading
import time
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from trilens.errors import SurveyError
from trilens_survey.settings import Links
from trilens_survey.writer import Refused

if TYPE_CHECKING:
    from jwt import PyJWK

#: Where Prolific publishes the keys that check its signatures; it wants them read once a day.
PROLIFIC_KEYS = "https://api.prolific.com/.well-known/study/jwks.json"
_DAY = 24 * 3600
#: Seconds for reading them, and between two attempts.
_PATIENCE = 2
_PAUSE = 30
#: What the platform should have put an id in place of.
_UNFILLED = re.compile(r"\{\{.*\}\}")
_REFUSED = "this link is not complete; open the study again from where you found it"


class _Keys:
    """Prolific's keys. One thread at a time reads them, now and then; nobody waits for it."""

    def __init__(self) -> None:
        self._known: dict[str | None, PyJWK] = {}
        self._read = self._tried = float("-inf")
        self._reading = threading.Lock()

    def find(self, kid: str | None) -> PyJWK | None:
        """The key with an id; refused for now if it may be one that was not read yet."""
        old = time.monotonic() - self._read > _DAY
        read = (old or kid not in self._known) and self._refresh()
        if kid not in self._known and not read:
            raise Refused(503, "the platform's keys cannot be read now; try again soon")
        return self._known.get(kid)

    def _refresh(self) -> bool:
        """Read the keys, unless somebody does or just did; whether they were read."""
        import jwt

        if not self._reading.acquire(blocking=False):
            return False
        try:
            if time.monotonic() - self._tried < _PAUSE:
                return False
            self._tried = time.monotonic()
            client = jwt.PyJWKClient(PROLIFIC_KEYS, cache_jwk_set=False, timeout=_PATIENCE)
            self._known = {key.key_id: key for key in client.get_signing_keys()}
            self._read = time.monotonic()
            return True
        except (jwt.PyJWTError, ValueError):
            return False
        finally:
            self._reading.release()


class LinkCheck:
    """Checks the links of a study that says who may join.

    One of the ``hosts``, the names of this server, is what Prolific's signature must be for.
    """

    def __init__(self, links: Links, hosts: frozenset[str], platform: str) -> None:
        if links.prolific and not hosts:
            raise SurveyError(
                "links: Prolific signs the address of the study, so the server must know it; "
                "start it with --public-url https://..."
            )
        self._links = links
        self._secret = (links.secret or "").encode()
        self._hosts = hosts
        self._keys = _Keys()
        self.needs_id = links.prolific or links.signed or platform == "prolific"

    def check(self, platform_id: str | None, key: str | None, signature: str | None) -> None:
        """Refuse what does not come from the platform."""
        if self.needs_id and not platform_id:
            good = False
        elif self._links.prolific:
            good = self._id_signed_by_prolific(signature) == platform_id
        elif self._links.signed:
            expected = hmac.new(self._secret, (platform_id or "").encode(), "sha256").hexdigest()
            good = hmac.compare_digest((signature or "").lower().encode(), expected.encode())
        else:
            good = hmac.compare_digest((key or "").encode(), self._secret)
        if not good:
            raise Refused(403, _REFUSED, code="link")

    def _id_signed_by_prolific(self, token: str | None) -> Any:
        """The participant's id in a token that is meant for this server, and still holds."""
        import jwt

        try:
            known = self._keys.find(jwt.get_unverified_header(token or "").get("kid"))
            if known is None:
                return None
            claims = jwt.decode(
                token or "",
                known,
                algorithms=["RS256"],
                options={"require": ["exp", "aud"], "verify_aud": False},
            )
        except jwt.PyJWTError:
            return None
        given = claims["aud"]
        hosts = {_host(one) for one in (given if isinstance(given, list) else [given])}
        inside = claims.get("prolific")
        if not hosts & self._hosts or not isinstance(inside, dict):
            return None
        return inside.get("PROLIFIC_PID")


def check_filled(platform_id: str | None) -> None:
    """Refuse an id that the platform was to put in, and did not."""
    if platform_id and _UNFILLED.fullmatch(platform_id):
        raise Refused(403, _REFUSED, code="link")


def _host(audience: object) -> str | None:
    """The host of an address, or of one that is only a host."""
    text = str(audience)
    return urlsplit(text if "//" in text else f"//{text}").hostname
