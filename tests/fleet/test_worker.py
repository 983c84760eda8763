"""A worker ends as soon as its parent does, also in the middle of its work, and does not mind Ctrl-C."""

import os
import signal
import subprocess
import sys

from farrier.fleet.framing import receive
from farrier.fleet.messages import pack, unpack
from farrier.fleet.pool import COMMAND
from tests.fleet.test_pool import PLAN

BUSY = (
    "from farrier.fleet import one_series, worker\n"
    "def busy(job, plan):\n    while True: pass\n"
    "one_series.forecast_series = busy\nworker.main()"
)


def started(*command):
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    process.stdin.write(pack(PLAN.to_dict()))
    process.stdin.flush()
    assert unpack(receive(process.stdout)) == "ready"
    return process


def test_a_worker_that_is_in_the_middle_of_a_fit_ends_when_its_input_closes():
    process = started(sys.executable, "-c", BUSY)
    process.stdin.write(pack({"name": "a", "stamps": [1], "values": [1.0]}))
    process.stdin.close()
    assert process.wait(20) == 0
    process.stdout.close()


def test_a_worker_leaves_interrupts_to_its_parent():
    process = started(*COMMAND)
    os.kill(process.pid, signal.SIGINT)
    process.stdin.write(pack({"name": "a", "stamps": [1], "values": [1.0]}))
    process.stdin.flush()
    assert "give at least 4" in unpack(receive(process.stdout))["error"]
    process.stdin.close()
    assert process.wait(20) == 0
    process.stdout.close()
