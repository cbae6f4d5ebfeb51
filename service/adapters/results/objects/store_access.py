"""Where the object store of results is, and how to reach it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from service.adapters.catalogs.spark_file_io import file_io_properties
from service.adapters.catalogs.store_region import with_region

ATTEMPTS = 2
CONNECT_WITHIN_S = 2.0
_CONNECTIONS = 64
# Ten thousand of these are one object at most. Iceberg's 32 MiB take a slow store longer to acknowledge.
_UPLOADED_AT_ONCE = 16 << 20
_KEYS = ("s3.access-key-id", "s3.secret-access-key", "s3.session-token")
_YES = frozenset({"true", "1", "yes", "on"})


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreAccess:
    """A prefix in a bucket. Credentials that are not in `properties` come from the environment.

    An answer takes at most `timeout_s`, and is asked for `ATTEMPTS` times. `properties` are named as in a
    catalog. They may hold secrets, so its repr omits them.
    """

    bucket: str
    prefix: str
    timeout_s: float
    properties: Mapping[str, str] = field(default_factory=dict, repr=False)

    def key(self, *steps: str) -> str:
        """Returns the key of an object below the prefix.

        >>> StoreAccess(bucket="b", prefix="a/results", timeout_s=1).key("x", "y")
        'a/results/x/y'
        >>> StoreAccess(bucket="b", prefix="", timeout_s=1).key("x")
        'x'
        """
        return "/".join((self.prefix, *steps) if self.prefix else steps)

    def address(self, *steps: str) -> str:
        """Returns the address of an object, or of what is below a step."""
        return f"s3://{self.bucket}/{self.key(*steps)}"

    def for_executors(self) -> dict[str, str]:
        """Returns the properties of Iceberg's `S3FileIO`, whose calls end in time as well."""
        return file_io_properties("results", with_region(self.properties)) | {
            "http-client.apache.connection-timeout-ms": str(round(CONNECT_WITHIN_S * 1000)),
            "http-client.apache.socket-timeout-ms": str(round(self.timeout_s * 1000)),
            "s3.multipart.part-size-bytes": str(_UPLOADED_AT_ONCE),
            "s3.retry.num-retries": str(ATTEMPTS - 1),
            "s3.retry.min-wait-ms": "200",
            "s3.retry.max-wait-ms": "1000",
        }

    def client(self) -> Any:
        """Returns a client of the bucket's store. Any thread may use it."""
        # Gateways without such a store do not load it.
        import boto3
        from botocore.config import Config

        given = with_region(self.properties)
        key, secret, token = (given.get(name) for name in _KEYS)
        session = boto3.session.Session(
            aws_access_key_id=key,
            aws_secret_access_key=secret,
            aws_session_token=token,
            region_name=given.get("s3.region") or given.get("client.region"),
        )
        return session.client("s3", endpoint_url=given.get("s3.endpoint"), config=self._config(Config, given))

    def _config(self, config: Any, given: Mapping[str, str]) -> Any:
        is_virtual = given.get("s3.force-virtual-addressing", "").lower() in _YES
        # As PyIceberg does: an endpoint of one's own has the bucket in the path.
        style = "path" if "s3.endpoint" in given and not is_virtual else "auto"
        return config(
            connect_timeout=CONNECT_WITHIN_S,
            read_timeout=self.timeout_s,
            retries={"total_max_attempts": ATTEMPTS, "mode": "standard"},
            max_pool_connections=_CONNECTIONS,
            s3={"addressing_style": style},
            # Other stores than AWS's may not know the newer checksums.
            request_checksum_calculation="when_required",
            response_checksum_validation="when_required",
        )
