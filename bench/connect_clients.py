"""The clients that the measure of connecting compares, each as its users call it.

The module of a client is imported when the client is made. So a client that is not installed is the only one
that is left out.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import Any

SQL = "SELECT 1"
HOST, USER, PASSWORD = "127.0.0.1", "bench", "bench"
Once = Callable[[], Any]
"""Connects, asks `SELECT 1`, closes, and returns the value."""


@dataclass(frozen=True, slots=True)
class Places:
    """Where a gateway on loopback serves what."""

    http_port: int
    hive_port: int
    flight_port: int

    @property
    def url(self) -> str:
        """The address over HTTP."""
        return f"http://{HOST}:{self.http_port}"

    @property
    def jdbc_urls(self) -> Mapping[str, str]:
        """The addresses of drivers of JDBC."""
        return {
            "hive": f"jdbc:hive2://{HOST}:{self.hive_port}/",
            "flight": f"jdbc:arrow-flight-sql://{HOST}:{self.flight_port}/?useEncryption=false",
        }


def _pyhive(places: Places) -> Once:
    hive = importlib.import_module("pyhive.hive")
    return lambda: _asked(hive.connect(HOST, places.hive_port, username=USER))


def _pyhive_http(places: Places) -> Once:
    hive = importlib.import_module("pyhive.hive")
    options = {"scheme": "http", "username": USER, "password": PASSWORD}
    return lambda: _asked(hive.connect(HOST, places.http_port, **options))


def _impyla(places: Places) -> Once:
    dbapi = importlib.import_module("impala.dbapi")
    options = {"auth_mechanism": "PLAIN", "user": USER, "password": PASSWORD}
    return lambda: _asked(dbapi.connect(host=HOST, port=places.hive_port, **options))


def _adbc(places: Places) -> Once:
    dbapi = importlib.import_module("adbc_driver_flightsql.dbapi")
    return lambda: _asked(dbapi.connect(f"grpc://{HOST}:{places.flight_port}", autocommit=True))


def _python_client(places: Places) -> Once:
    client = importlib.import_module("sluice_client")

    def once() -> Any:
        with client.connect(places.url, progress=False) as connection:
            return connection.query(SQL).rows()[0][0]

    return once


def _dbapi(places: Places) -> Once:
    dbapi = importlib.import_module("sluice_client.dbapi")
    return lambda: _asked(dbapi.connect(places.url))


def _sqlalchemy(url: Callable[[Places], str], module: str) -> Callable[[Places], Once]:
    def make(places: Places) -> Once:
        importlib.import_module(module)
        alchemy, pool = importlib.import_module("sqlalchemy"), importlib.import_module("sqlalchemy.pool")
        engine = alchemy.create_engine(url(places), poolclass=pool.NullPool)

        def once() -> Any:
            with engine.connect() as connection:
                return connection.execute(alchemy.text(SQL)).scalar()

        return once

    return make


CLIENTS: Mapping[str, Callable[[Places], Once]] = {
    "Python client": _python_client,
    "Python client, DB-API": _dbapi,
    "SQLAlchemy, sluice://": _sqlalchemy(
        lambda places: f"sluice://{HOST}:{places.http_port}/lake", "sluice_client.sqlalchemy"
    ),
    "PyHive, SASL on the port": _pyhive,
    "PyHive, HTTP": _pyhive_http,
    "SQLAlchemy, hive://": _sqlalchemy(
        lambda places: f"hive://{USER}@{HOST}:{places.hive_port}/", "pyhive.sqlalchemy_hive"
    ),
    "impyla, SASL on the port": _impyla,
    "ADBC, Flight SQL": _adbc,
}


def _asked(connection: Any) -> Any:
    with closing(connection), closing(connection.cursor()) as cursor:
        cursor.execute(SQL)
        return cursor.fetchone()[0]
