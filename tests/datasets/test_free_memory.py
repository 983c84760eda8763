"""Free memory is the least of what the machine and the control group leave."""

from farrier.datasets.free_memory import available_bytes, in_gigabytes


def test_the_memory_of_a_control_group_counts(tmp_path):
    assert available_bytes(tmp_path) is None
    proc, group = tmp_path / "proc", tmp_path / "sys/fs/cgroup"
    proc.mkdir()
    (proc / "meminfo").write_text("MemTotal: 9000 kB\nMemAvailable: 8000 kB\n")
    assert available_bytes(tmp_path) == 8000 * 1024
    group.mkdir(parents=True)
    (group / "memory.max").write_text("max\n")
    (group / "memory.current").write_text("700\n")
    (group / "memory.stat").write_text("anon 500\ninactive_file 200\n")
    assert available_bytes(tmp_path) == 8000 * 1024
    (group / "memory.max").write_text("1000\n")
    # cached files can go
    assert available_bytes(tmp_path) == 1000 - 700 + 200


def test_bytes_in_words():
    assert in_gigabytes(3 * 2**29) == "1.5 GB"
