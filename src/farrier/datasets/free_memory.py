"""The memory that is still free, of the machine and of the control group in which this process may be confined."""

from contextlib import suppress
from pathlib import Path


def available_bytes(system: Path = Path("/")) -> int | None:
    """Bytes of memory that processes can still get: of the machine and of the control group; None if not known."""
    found = [_meminfo(system / "proc/meminfo"), *_control_groups(system / "sys/fs/cgroup")]
    return min((count for count in found if count is not None), default=None)


def _meminfo(path: Path) -> int | None:
    with suppress(OSError, ValueError, IndexError):
        for line in path.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return 1024 * int(line.split()[1])
    return None


def _control_groups(folder: Path) -> list[int | None]:
    """What is left of the limits of control groups, version 2 and version 1."""
    first = folder / "memory"
    return [
        _left(folder / "memory.max", folder / "memory.current", folder / "memory.stat"),
        _left(first / "memory.limit_in_bytes", first / "memory.usage_in_bytes", first / "memory.stat"),
    ]


def _left(limit: Path, used: Path, stat: Path) -> int | None:
    """The limit less what is used; cached files are not counted, since the system drops them when memory is short."""
    with suppress(OSError, ValueError):  # "max" is no number
        counts = dict(line.split() for line in stat.read_text().splitlines())
        cached = int(counts.get("total_inactive_file", counts.get("inactive_file", "0")))
        return max(int(limit.read_text()) - int(used.read_text()) + cached, 0)
    return None


def in_gigabytes(count: int) -> str:
    """Bytes in words."""
    return f"{count / 2**30:.1f} GB"
