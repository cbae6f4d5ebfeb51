"""Where results are kept that all replicas and Spark's executors share."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

from pydantic import BaseModel, Field, field_validator

# As the client for Python wants it, which otherwise fails at the first call.
_ENDPOINT = re.compile(r"https?://[^/?#\s]+(/[^?#\s]*)?", re.IGNORECASE)
OBJECT_PROPERTIES = frozenset(
    {
        *("s3.endpoint", "s3.region", "client.region", "s3.force-virtual-addressing"),
        *("s3.access-key-id", "s3.secret-access-key", "s3.session-token"),
    }
)


def folder_of_url(url: str) -> Path:
    """Returns the folder that a file: URL names.

    Raises:
        ValueError: it is another kind of URL, or it does not name a folder.

    >>> str(folder_of_url("file:///shared/my%20results"))
    '/shared/my results'
    """
    parts = urlsplit(url)
    path = unquote(parts.path)
    if parts.scheme != "file" or parts.netloc or parts.query or parts.fragment or path.strip("/") == "":
        raise ValueError("has to be the URL of a folder, such as file:///shared/results")
    return Path(path)


def bucket_of_url(url: str) -> tuple[str, str] | None:
    """Returns the bucket and the prefix that an s3: URL names; None if it is another kind of URL.

    Raises:
        ValueError: it names no bucket.

    >>> bucket_of_url("s3://bucket/some/results/"), bucket_of_url("file:///shared/results")
    (('bucket', 'some/results'), None)
    """
    if urlsplit(url).scheme != "s3":
        return None
    bucket, _, prefix = url.removeprefix("s3://").partition("/")
    steps = prefix.strip("/").split("/")
    if not bucket or set("?#@%: ") & set(url.removeprefix("s3:")) or (prefix.strip("/") and "" in steps):
        raise ValueError("has to name a bucket and a prefix, such as s3://bucket/results")
    return bucket, "/".join(steps)


class ResultPlaceSettings(BaseModel):
    """Where results are kept that all replicas and Spark's executors share."""

    results_url: str | None = Field(
        None,
        description="place for results that all replicas and Spark's executors share: a folder (`file:`) or a"
        " prefix in an object store (`s3:`); any replica then serves any result. Unset: a folder of this"
        " gateway's own",
    )
    results_properties: dict[str, str] = Field(
        {},
        repr=False,
        description="how an object store of results is reached: `s3.…` properties as in a catalog, beside the"
        " environment",
    )
    results_timeout_s: float = Field(
        10.0,
        ge=0.5,
        le=300,
        description="how long the object store of results may take for an answer; it is asked twice",
    )

    @field_validator("results_url")
    @classmethod
    def _names_a_place(cls, value: str | None) -> str | None:
        if value is not None and bucket_of_url(value) is None:
            folder_of_url(value)
        return value

    @field_validator("results_properties")
    @classmethod
    def _knows_properties(cls, value: dict[str, str]) -> dict[str, str]:
        for name in value.keys() - OBJECT_PROPERTIES:
            raise ValueError(f"{name} is not one of {', '.join(sorted(OBJECT_PROPERTIES))}")
        endpoint = value.get("s3.endpoint")
        if endpoint is not None and not _ENDPOINT.fullmatch(endpoint):
            raise ValueError("s3.endpoint has to be a URL, such as http://store:9000")
        return value
