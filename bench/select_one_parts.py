"""Which functions an answer to `select 1` passes through, in order."""

from __future__ import annotations

from bench.stopwatch import Part

_SESSION, _RUN = "spark_session.warm_session:WarmSession", "spark_session.run"
_CONTEXT, _FRAME = "pyspark:SparkContext", "pyspark.sql.classic.dataframe:DataFrame"

PARTS = (
    Part("take in", "service.gateway:Gateway.submit"),
    Part("vet", "service.query.run:vet"),
    Part("check parameters", "service.query.run:check_parameters"),
    Part("engine", "spark_session.engine:SparkEngine.run"),
    Part("job tag on", f"{_CONTEXT}.addJobTag", 1),
    Part("scheduler pool", f"{_CONTEXT}.setLocalProperty", 1),
    Part("child session", f"{_SESSION}.child", 1),
    Part("guard", "spark_session.guard:Guard.allow_queries_only", 1),
    Part("parse and analyse", "pyspark.sql:SparkSession.sql", 1),
    Part("types for Arrow", f"{_RUN}:in_arrow_types", 1),
    Part("limit", f"{_FRAME}.limit", 1),
    Part("plan", f"{_RUN}:_is_plain_limit", 1),
    Part("run and collect", f"{_RUN}:_collect", 1),
    Part("columns", f"{_RUN}:result_columns", 1),
    Part("scan metrics", "spark_session.scan_metrics:ScanReader.read", 1),
    Part("job tag off", f"{_CONTEXT}.removeJobTag", 1),
    Part("keep the result", "service.adapters.result_store:LocalResultStore.put"),
    Part("write the answer", "api.routes.query:answer"),
    Part("after the answer: plan as text", f"{_RUN}:plan_text"),
)

INSIDE = frozenset({"take in", "vet", "check parameters", "engine", "keep the result", "write the answer"})
"""Those that together are the answer; what they do not cover is HTTP and the hand-over between threads."""
