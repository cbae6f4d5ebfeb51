"""How the keys of a candidate are collected, and which values of the probe's column they stand for."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from service.model.filters.dynamic_filter import KeySpan
from service.model.filters.filter_record import Reason
from service.model.filters.joins import Candidate
from service.model.filters.keys import key_family
from service.pruning.candidates.key_conversion import key_conversion
from service.pruning.candidates.key_type import key_type
from service.pruning.candidates.unwrap_cast import Unwrapped, unwrap_cast


@dataclass(frozen=True, slots=True)
class KeyPlan:
    """A plan for keys: the values of `expression`, cast to `cast_to`, in Iceberg's type `type_name`.

    Without an `expression`, the keys are the values of the build column; without `cast_to`, they are not
    cast. `is_plain`: the two columns are compared without a conversion.
    """

    type_name: str
    span: KeySpan
    expression: exp.Expr | None
    cast_to: str | None
    is_plain: bool


def key_plan(candidate: Candidate, probe_type: str, build_type: str, is_utc: bool) -> KeyPlan | Reason:
    """Returns the plan for a probe and a build column of these types, or the reason why there is none."""
    probe_key, build_key = candidate.probe_key, candidate.build_key
    compared = (
        Unwrapped(probe_type, probe_type) if probe_key is None else unwrap_cast(probe_key, probe_type, is_utc)
    )
    keys = build_type if build_key is None else key_type(build_key, build_type)
    if compared is None or keys is None:
        return Reason.KEY_IS_COMPUTED
    conversion = key_conversion(compared.type_name, keys, is_utc)
    # A cast other than the engine's own may give NULL where that does not, and NULL is a key of `<=>`.
    if conversion is None or (candidate.is_null_safe and conversion.cast_to is not None):
        return Reason.TYPE_NOT_CONVERTIBLE
    is_plain = probe_key is build_key is None and key_family(probe_type) == key_family(build_type)
    return KeyPlan(conversion.type_name, compared.span, build_key, conversion.cast_to, is_plain)
