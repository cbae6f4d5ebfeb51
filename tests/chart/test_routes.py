"""Ingresses and routes lead to the gateways' service."""

from __future__ import annotations

from tests.chart.manifests import RELEASE, helm, path_of, rendered


def test_an_ingress_leads_to_the_service() -> None:
    made = rendered("production")
    ingress = made.one("Ingress")["spec"]
    [rule] = ingress["rules"]
    backend = rule["http"]["paths"][0]["backend"]["service"]
    service = made.one("Service")
    assert backend["name"] == service["metadata"]["name"]
    assert backend["port"]["name"] in {port["name"] for port in service["spec"]["ports"]}
    assert ingress["tls"] == [{"secretName": "sluice-tls", "hosts": ["sluice.example"]}]


def test_a_route_leads_to_the_service() -> None:
    made = rendered("tls")
    route = made.one("HTTPRoute")["spec"]
    [backend] = route["rules"][0]["backendRefs"]
    service = made.one("Service")
    assert backend == {"name": service["metadata"]["name"], "port": service["spec"]["ports"][0]["port"]}
    assert route["parentRefs"] == [{"name": "internal", "namespace": "gateways", "sectionName": "https"}]


def test_the_notes_say_the_next_command() -> None:
    values = path_of("ci/smallest-values.yaml")
    arguments = ("--dry-run=client", "--namespace", "lake", "--values", str(values))
    notes = helm("install", RELEASE, str(path_of("")), *arguments).stdout.partition("NOTES:")[2]
    assert "kubectl --namespace lake rollout status statefulset/trial-sluice" in notes
    assert "port-forward service/trial-sluice 8080:80" in notes
    assert "All data goes with the pod." in notes
    assert "Authorization" not in notes
