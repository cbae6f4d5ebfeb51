"""The links of the OpenAPI description: which value of an answer another request takes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Link:
    """A link from the successful answers of one operation to another operation.

    Operations are named as in `POST /query`. `parameters` has OpenAPI's runtime expressions by the
    parameters of the target.
    """

    source: str
    target: str
    parameters: Mapping[str, str]

    @property
    def name(self) -> str:
        """The link's name.

        >>> Link("POST /query", "GET /query/{query_id}", {}).name
        'GET_query_by_query_id'
        """
        method, path = self.target.split(" ")
        steps = (step.replace("{", "by_").replace("}", "") for step in path.strip("/").split("/"))
        return "_".join((method, *steps))


def _links() -> Iterator[Link]:
    query = {"query_id": "$response.body#/queryId"}
    first_query = {"query_id": "$response.body#/queries/0/queryId"}
    for source, ids in (("POST /query", query), ("GET /query", first_query)):
        yield Link(source, "GET /query/{query_id}", ids)
        yield Link(source, "DELETE /query/{query_id}", ids)
        yield Link(source, "GET /query/{query_id}/chunks/{index}", ids)
        yield Link(source, "GET /explain/{query_id}", ids)
        yield Link(source, "GET /query/{query_id}/events", ids)
    yield Link("GET /query/{query_id}", "GET /query/{query_id}/chunks/{index}", query)
    yield Link("GET /query/{query_id}", "GET /explain/{query_id}", query)
    saved = (("POST /saved-queries", "/savedQueryId"), ("GET /saved-queries", "/savedQueries/0/savedQueryId"))
    for source, pointer in saved:
        saved_query = {"saved_query_id": f"$response.body#{pointer}"}
        yield Link(source, "GET /saved-queries/{saved_query_id}", saved_query)
        yield Link(source, "DELETE /saved-queries/{saved_query_id}", saved_query)
    yield Link("POST /ingest", "GET /ingest/{ingest_id}", {"ingest_id": "$response.body#/ingestId"})
    yield Link("GET /ingest", "GET /ingest/{ingest_id}", {"ingest_id": "$response.body#/ingests/0/ingestId"})
    for source, pointer in (("POST /streams", "/streamId"), ("GET /streams", "/streams/0/streamId")):
        stream = {"stream_id": f"$response.body#{pointer}"}
        yield Link(source, "GET /streams/{stream_id}", stream)
        yield Link(source, "DELETE /streams/{stream_id}", stream)
        yield Link(source, "POST /streams/{stream_id}/resume", stream)
    table = {"name": "$response.body#/tables/0/name"}
    yield Link("GET /tables", "GET /tables/{name}", table)
    yield Link("GET /tables", "POST /tables/{name}/maintenance", table)
    yield Link("GET /tables", "GET /tables/{name}/maintenance", table)
    maintenance = {"name": "$request.path.name", "maintenance_id": "$response.body#/maintenanceId"}
    one_maintenance = "GET /tables/{name}/maintenance/{maintenance_id}"
    yield Link("POST /tables/{name}/maintenance", one_maintenance, maintenance)
    fingerprint = {"fingerprint": "$response.body#/filters/0/fingerprint"}
    yield Link("GET /filters", "DELETE /filters/{fingerprint}", fingerprint)
    yield Link("POST /keys", "DELETE /keys/{key_id}", {"key_id": "$response.body#/keyId"})
    yield Link("GET /keys", "DELETE /keys/{key_id}", {"key_id": "$response.body#/keys/0/keyId"})
    yield Link("GET /policies", "PUT /policies", {"if-match": "$response.header.ETag"})


LINKS = tuple(_links())


def add_links(paths: Mapping[str, Mapping[str, dict[str, Any]]]) -> None:
    """Adds the links between operations that this gateway serves to its description."""
    for link in LINKS:
        source, target = _operation(paths, link.source), _operation(paths, link.target)
        if source is None or target is None:
            continue
        for status, answer in source["responses"].items():
            if status.startswith("2") and "application/json" in answer.get("content", {}):
                described = {"operationId": target["operationId"], "parameters": dict(link.parameters)}
                answer.setdefault("links", {})[link.name] = described


def _operation(paths: Mapping[str, Mapping[str, dict[str, Any]]], name: str) -> dict[str, Any] | None:
    method, path = name.split(" ")
    return paths.get(path, {}).get(method.lower())
