"""The region of an S3 of one's own."""

from __future__ import annotations

import os
from collections.abc import Mapping

_ENDPOINT = "s3.endpoint"
_REGIONS = ("s3.region", "client.region", "glue.region")
_IN_ENVIRONMENT = ("AWS_REGION", "AWS_DEFAULT_REGION")
# What stores that have no regions sign with, and AWS where nothing else is said.
_DEFAULT = "us-east-1"


def with_region(properties: Mapping[str, str], environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The properties, with a region if they name an S3 endpoint and none.

    Without one PyIceberg would ask AWS where the bucket lies, and Spark would read nothing.

    >>> with_region({"s3.endpoint": "http://store:9000"}, {})["s3.region"]
    'us-east-1'
    >>> with_region({"s3.endpoint": "http://store:9000"}, {"AWS_REGION": "eu-west-1"})["s3.region"]
    'eu-west-1'
    >>> with_region({"s3.endpoint": "http://store:9000", "client.region": "eu"}, {}).get("s3.region")
    >>> with_region({"warehouse": "s3://bucket/warehouse"}, {})
    {'warehouse': 's3://bucket/warehouse'}
    """
    if _ENDPOINT not in properties or any(properties.get(each) for each in _REGIONS):
        return dict(properties)
    found = (environment[each] for each in _IN_ENVIRONMENT if environment.get(each))
    return {**properties, "s3.region": next(found, _DEFAULT)}
