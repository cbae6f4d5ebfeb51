from docs.tooling.check import ROOT
from docs.tooling.sql_security import sql_security_page
from spark_session.vetting.functions import FUNCTIONS
from spark_session.vetting.plan_nodes import REFUSED_NODES
from spark_session.vetting.statements import STATEMENTS

PAGE = ROOT / "docs" / "reference" / "sql-security.md"


def test_the_page_in_docs_is_what_the_tables_say() -> None:
    hint = "run: python -m docs.tooling.sql_security > docs/reference/sql-security.md"
    assert PAGE.read_text(encoding="utf-8") == sql_security_page(), hint


def test_each_decision_is_on_the_page() -> None:
    page = sql_security_page().replace("\\|", "|")
    assert all(f"`{name}`" in page for name in (*FUNCTIONS, *STATEMENTS, *REFUSED_NODES))
