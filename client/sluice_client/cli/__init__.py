"""The command line: `sluice query`, `ingest`, `explain`, `tables`, `status`, `cancel`, `top`, `completion`.

Arguments, files and the configuration of profiles come in. Text for people, data for programs and an exit
code go out. `commands` has the arguments alone, and imports the rest of this room when a command runs. So
`--help` is quick, and a query whose output is text does not import Arrow.
"""

import sys

# httpx has a command of its own. For that, it imports rich and pygments where they are installed, before this
# one can send anything. With None as the module of that command, httpx takes them as not installed.
sys.modules.setdefault("httpx._main", None)  # type: ignore[arg-type]
