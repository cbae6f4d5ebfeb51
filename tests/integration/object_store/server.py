"""An S3 object store for tests, which keeps everything in memory until it ends."""

from __future__ import annotations

import json
import os
import secrets
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from typing import Any

import boto3
import httpx
from botocore.config import Config

from tests.integration.object_store.names import AGE, DENY, KEY, SECRET, Action, Denial
from tests.integration.running import REPOSITORY
from tests.polling import until

REGION = "us-east-1"


class ObjectStore:
    """The server, and a client as others would have."""

    def __init__(self, log_path: Path) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self._port: int = probe.getsockname()[1]
        self._log_path = log_path
        self._process: subprocess.Popen[bytes] | None = None
        self.endpoint = f"http://127.0.0.1:{self._port}"
        self.key, self.secret = f"AKIA{secrets.token_hex(8).upper()}", secrets.token_hex(20)

    @property
    def properties(self) -> dict[str, str]:
        """The properties of catalogs and sources that reach the store, as an operator would write them."""
        return {
            "s3.endpoint": self.endpoint,
            "s3.access-key-id": self.key,
            "s3.secret-access-key": self.secret,
        }

    @cached_property
    def client(self) -> Any:
        """AWS's own client for Python."""
        return boto3.client(
            "s3",
            endpoint_url=self.endpoint,
            aws_access_key_id=self.key,
            aws_secret_access_key=self.secret,
            region_name=REGION,
            config=Config(s3={"addressing_style": "path"}),
        )

    def start(self) -> None:
        """Starts the server, and returns when it answers."""
        command = [sys.executable, "-m", "tests.integration.object_store.serve", str(self._port)]
        environment = os.environ | {KEY: self.key, SECRET: self.secret}
        with self._log_path.open("ab") as log:
            self._process = subprocess.Popen(
                command, cwd=REPOSITORY, env=environment, stdout=log, stderr=subprocess.STDOUT
            )
        until(self._answers_or_dead)
        assert self._process.poll() is None, self._log_path.read_text()[-2000:]

    def stop(self) -> None:
        """Stops the server, and loses all objects."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    @contextmanager
    def silent(self) -> Iterator[None]:
        """Accepts connections and answers nothing until the block ends."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self._process.send_signal(signal.SIGCONT)

    def make_bucket(self, name: str) -> str:
        """Creates a bucket, and returns its name."""
        self.client.create_bucket(Bucket=name)
        return name

    def put(self, bucket: str, key: str, data: bytes) -> None:
        self.client.put_object(Bucket=bucket, Key=key, Body=data)

    def get(self, bucket: str, key: str) -> bytes:
        found: bytes = self.client.get_object(Bucket=bucket, Key=key)["Body"].read()
        return found

    def keys(self, bucket: str, prefix: str = "") -> list[str]:
        """Returns all keys, sorted."""
        pages = self.client.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=prefix)
        return [listed["Key"] for page in pages for listed in page.get("Contents", ())]

    @contextmanager
    def denying(self, bucket: str, action: Action, ending: str = "", status: int = 403) -> Iterator[None]:
        """Denies an action on keys with this ending until the block ends."""
        self.deny(Denial(bucket, action, ending, status))
        try:
            yield
        finally:
            self.deny()

    def deny(self, *denials: Denial) -> None:
        """Denies these actions from now on, instead of the previous ones."""
        self._post(DENY, json.dumps([asdict(denial) for denial in denials]))

    def age_everything(self) -> None:
        """Makes all present objects older than the age at which maintenance removes orphans."""
        self._post(AGE)

    def _post(self, path: str, body: str = "") -> None:
        httpx.post(f"{self.endpoint}{path}", content=body, trust_env=False).raise_for_status()

    def _answers_or_dead(self) -> bool:
        assert self._process is not None
        if self._process.poll() is not None:
            return True
        try:
            return httpx.get(self.endpoint, timeout=1, trust_env=False).status_code == 403
        except httpx.TransportError:
            return False


@contextmanager
def object_store(log_path: Path) -> Iterator[ObjectStore]:
    """Runs a store, and stops it at the end in any case."""
    store = ObjectStore(log_path)
    store.start()
    try:
        yield store
    finally:
        store.stop()
