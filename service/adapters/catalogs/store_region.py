"""The region of a custom S3 endpoint."""

from __future__ import annotations

import os
from collections.abc import Mapping

_ENDPOINT = "s3.endpoint"
_REGIONS = ("s3.region", "client.region", "glue.region")
_IN_ENVIRONMENT = ("AWS_REGION", "AWS_DEFAULT_REGION")
# The region with which stores without regions sign, and AWS's default.
_DEFAULT = "us-east-1"


def with_region(properties: Mapping[str, str], environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Adds a region to the properties if they name an S3 endpoint and no region.

    Without one, PyIceberg would ask AWS for the bucket's region, and Spark would read nothing.

    >>> with_region({"s3.endpoint": "http://store:9000"}, {})["s3.region"]
    'us-east-1'
    >>> with_region({"s3.endpoint": "http://store:9000"}, {"AWS_REGION": "eu-west-1"})["s3.region"]
    'eu-west-1'
    >>> with_region({"s3.endpoint": "http://store:9000", "client.region": "eu"}, {}).get("s3.region")
    >>> with_region({"warehouse": "s3://bucket/warehouse"}, {})
    {'warehouse': 's3://bucket/warehouse'}
    """
    if _ENDPOINT not in properties or any(properties.get(region) for region in _REGIONS):
        return dict(properties)
    found = (environment[variable] for variable in _IN_ENVIRONMENT if environment.get(variable))
    return {**properties, "s3.region": next(found, _DEFAULT)}
