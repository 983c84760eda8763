"""A worker process: a plan and then series on standard input, an outcome for each on standard output.

    python -P -m farrier.fleet.worker

It lives as long as its standard input is open. The system closes that when the parent ends, by whatever cause, so no
worker outlives its parent, also not one that is in the middle of a fit. What libraries print goes to standard error.
"""

import os
import signal
import sys
import threading
from queue import SimpleQueue
from typing import IO

from farrier.fleet.framing import receive


def main() -> None:
    """Work until standard input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the parent, which then closes standard input
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    messages: SimpleQueue[bytes] = SimpleQueue()
    threading.Thread(target=_receive, args=(sys.stdin.buffer, messages), daemon=True).start()
    _work(messages, answers)


def _receive(stream: IO[bytes], messages: "SimpleQueue[bytes]") -> None:
    """Queue the messages of the parent, and end the process when there are no more."""
    while (message := receive(stream)) is not None:
        messages.put(message)
    os._exit(0)


def _work(messages: "SimpleQueue[bytes]", answers: IO[bytes]) -> None:
    # slow to load, so after the thread that waits for the end of the parent
    from farrier.fleet.messages import pack, unpack
    from farrier.fleet.one_series import Job, Plan, forecast_series

    def answer(value: object) -> None:
        try:
            answers.write(pack(value))
            answers.flush()
        except OSError:  # the parent is gone
            os._exit(1)

    plan = Plan(**unpack(messages.get()))
    answer("ready")
    while True:
        outcome = forecast_series(Job(**unpack(messages.get())), plan)
        answer({name: value for name, value in vars(outcome).items() if name != "name"})


if __name__ == "__main__":
    main()
