"""`python -m helm.generate`: writes the generated files of the chart."""

from __future__ import annotations

from helm.generate.files import CHART, generated_files


def main() -> None:
    """Writes each file."""
    for name, content in generated_files().items():
        (CHART / name).write_text(content, encoding="utf-8")


if __name__ == "__main__":
    main()
