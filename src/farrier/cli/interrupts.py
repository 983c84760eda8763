"""Ctrl-C while the command line still loads its libraries: one line instead of a traceback. Import this first.

`ends_cleanly` and `main` handle Ctrl-C once they run. The library never imports this file, since the hook is a setting
of the whole process.
"""

import sys
from types import TracebackType


def _say_stopped(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    if issubclass(kind, KeyboardInterrupt):
        sys.stderr.write("farrier: stopped\n")
    else:
        sys.__excepthook__(kind, error, trace)


sys.excepthook = _say_stopped
