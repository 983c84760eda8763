"""Worker processes that may die: every job gets an outcome, and no process outlives this one.

    with Pool(plan, workers=2) as pool:
        for outcome in pool.run(jobs):
            ...

A worker has at most two jobs: the one it works on and the next. When a worker ends, by a signal or an error of the
system, another one starts. The job it was working on is tried again, three times in all; its next job was not begun and
does not count. A job whose workers died three times gets an outcome with an error, and the others go on.

Workers end when their standard input closes (worker.py), which the system does when this process ends. `close` waits
for them, and kills by its process object what does not end. No other process is ever signalled.
"""

import os
import queue
import subprocess
import sys
import tempfile
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from time import monotonic
from typing import IO, Any, final

from farrier.fleet.framing import receive
from farrier.fleet.messages import pack, unpack
from farrier.fleet.one_series import Job, Outcome, Plan

TRIES = 3
"""Workers that may die of one series, or one after the other while they start, before it counts as failed; by
judgement: a series that memory cannot hold should not be tried often."""
AHEAD = 2
"""Most jobs that a worker has: the one it works on, and one so that it need not wait; by judgement."""
GRACE = 2.0
"""Seconds in which workers may end after their standard input is closed, before they are killed; by judgement."""
TICK = 1.0
"""Seconds after which waiting for workers looks for signals, which Windows needs."""
COMMAND = (sys.executable, "-P", "-m", "farrier.fleet.worker")
"""The command of a worker; -P keeps the files of the current folder from being imported."""
ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
"""The environment of a worker: there are as many of them as processors."""


@dataclass(eq=False)
class _Attempt:
    """A job and the number of workers that died of it."""

    job: Job
    deaths: int = 0


@dataclass(eq=False)
class _Worker:
    """A process, and the jobs that it has not answered yet, the one it works on first."""

    process: "subprocess.Popen[bytes]"
    log: IO[bytes]
    jobs: deque[_Attempt] = field(default_factory=deque)
    ready: bool = False

    def send(self, value: Any) -> None:
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(pack(value))
            self.process.stdin.flush()
        except OSError:  # it has died, which its reader reports
            return

    def close(self) -> None:
        """Close the pipes of a process that has ended."""
        assert self.process.stdin is not None
        for stream in (self.process.stdin, self.log):
            try:
                stream.close()
            except OSError:  # what was not sent cannot be sent any more
                continue

    def why(self) -> str:
        """How it ended, with the last line that it wrote."""
        code = self.process.returncode
        self.log.seek(0)
        lines = self.log.read().decode(errors="replace").split("\n")
        last = next((f": {line.strip()}" for line in reversed(lines) if line.strip()), "")
        return f"by signal {-code}" if code < 0 else f"with code {code}{last}"


@final
class Pool:
    """Runs jobs in worker processes; use it in a `with` statement."""

    def __init__(self, plan: Plan, workers: int) -> None:
        self._plan, self._most = plan, max(workers, 1)
        self._workers: set[_Worker] = set()
        self._events: queue.Queue[tuple[_Worker, bytes | None]] = queue.Queue()
        self._failed_starts = 0
        self._again: deque[_Attempt] = deque()

    def __enter__(self) -> "Pool":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def processes(self) -> tuple[int, ...]:
        """The ids of the worker processes."""
        return tuple(worker.process.pid for worker in self._workers)

    def run(self, jobs: Iterable[Job]) -> Iterator[Outcome]:
        """An outcome for each job, in the order in which they finish."""
        source = iter(jobs)
        while True:
            self._supply(source)
            if not any(worker.jobs for worker in self._workers):
                return
            try:
                worker, message = self._events.get(timeout=TICK)
            except queue.Empty:
                continue
            outcome = self._died(worker) if message is None else self._answered(worker, unpack(message))
            if outcome is not None:
                yield outcome

    def close(self) -> None:
        """End the workers, and wait until they have ended."""
        for worker in self._workers:
            worker.close()
        end = monotonic() + GRACE
        for worker in self._workers:
            try:
                worker.process.wait(max(end - monotonic(), 0.0))
            except subprocess.TimeoutExpired:
                worker.process.kill()
                worker.process.wait()
        self._workers.clear()

    def _supply(self, source: Iterator[Job]) -> None:
        """Give jobs to the workers that have fewest, and start workers while there are jobs for them."""
        while True:
            idle = min(self._workers, key=lambda worker: len(worker.jobs), default=None)
            # a worker that has not said that it is ready gets one job, so that the first jobs spread
            room = idle is not None and len(idle.jobs) < (AHEAD if idle.ready else 1)
            if not room and len(self._workers) >= self._most:
                return
            attempt = self._next(source)
            if attempt is None:
                return
            if idle is None or (idle.jobs and len(self._workers) < self._most):
                idle = self._start()
            idle.jobs.append(attempt)
            idle.send({name: value for name, value in vars(attempt.job).items()})

    def _next(self, source: Iterator[Job]) -> _Attempt | None:
        if self._again:
            return self._again.popleft()
        job = next(source, None)
        return None if job is None else _Attempt(job)

    def _start(self) -> _Worker:
        log = tempfile.TemporaryFile()  # noqa: SIM115 (closed with the worker)
        process = subprocess.Popen(
            COMMAND,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            env={**os.environ, **ONE_THREAD},
        )
        worker = _Worker(process, log)
        self._workers.add(worker)
        threading.Thread(target=_read, args=(worker, self._events), daemon=True).start()
        worker.send(self._plan.to_dict())
        return worker

    def _answered(self, worker: _Worker, answer: Any) -> Outcome | None:
        if not worker.ready:
            worker.ready, self._failed_starts = True, 0
            return None
        return Outcome(worker.jobs.popleft().job.name, **answer)

    def _died(self, worker: _Worker) -> Outcome | None:
        """Put the jobs of a worker back; an outcome if one of them has been tried often enough."""
        worker.process.wait()
        why = worker.why()
        worker.close()
        self._workers.discard(worker)
        if not worker.ready:
            self._failed_starts += 1
            if self._failed_starts >= TRIES:
                raise RuntimeError(f"{TRIES} worker processes ended while they started, the last {why}")
        running = worker.jobs.popleft() if worker.ready and worker.jobs else None
        self._again.extendleft(reversed(worker.jobs))
        if running is None:
            return None
        running.deaths += 1
        if running.deaths < TRIES:
            self._again.append(running)
            return None
        error = f"its process ended {TRIES} times, the last time {why}: perhaps memory ran out, try fewer jobs."
        return Outcome(running.job.name, error, rows=len(running.job.values))


def _read(worker: _Worker, events: "queue.Queue[tuple[_Worker, bytes | None]]") -> None:
    """Report the answers of a worker, then its end."""
    assert worker.process.stdout is not None
    with worker.process.stdout as stream:
        while (message := receive(stream)) is not None:
            events.put((worker, message))
    events.put((worker, None))
