"""A file is replaced in one step; links, permissions and things that are no regular files stay what they are."""

import os
import stat
import threading
from pathlib import Path

import pytest

from farrier.cli.writing import check_out
from farrier.data.writing import is_stream, write_whole


@pytest.mark.parametrize("content", ["Grüße\r\n", b"\x00\xff\n"])
def test_what_is_written_is_there_and_nothing_else(tmp_path: Path, content: str | bytes):
    path = tmp_path / "new.txt"
    assert write_whole(path, content) == path
    assert path.read_bytes() == (content.encode() if isinstance(content, str) else content)
    assert list(tmp_path.iterdir()) == [path]


def test_a_new_file_has_the_permissions_of_the_umask(tmp_path: Path):
    before = os.umask(0o027)
    try:
        path = write_whole(tmp_path / "new.txt", "new")
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


@pytest.mark.parametrize("mode", [0o600, 0o664, 0o755])
def test_an_existing_file_keeps_its_permissions_and_owner(tmp_path: Path, mode: int):
    path = tmp_path / "old.txt"
    path.write_text("old")
    if os.geteuid() == 0:
        os.chown(path, 12345, 23456)
    path.chmod(mode)
    before = path.stat()
    write_whole(path, "new")
    after = path.stat()
    assert path.read_text() == "new"
    assert (after.st_mode, after.st_uid, after.st_gid) == (before.st_mode, before.st_uid, before.st_gid)


def test_a_new_inode_takes_the_place_so_a_reader_sees_one_whole_file(tmp_path: Path):
    path = tmp_path / "old.txt"
    path.write_text("old")
    with path.open() as reader:
        write_whole(path, "new and longer")
        assert reader.read() == "old"


def test_a_symbolic_link_stays_and_its_target_is_written(tmp_path: Path):
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    target, link, further = folder / "target.txt", tmp_path / "link.txt", tmp_path / "further.txt"
    link.symlink_to(target)
    further.symlink_to(link)
    for content in ("first", "second"):  # the target is not there before the first
        assert write_whole(further, content) == further
        assert target.read_text() == content
    assert link.is_symlink()
    assert further.is_symlink()
    assert list(folder.iterdir()) == [target]


def test_a_pipe_is_written_into_and_never_replaced(tmp_path: Path):
    path, link, read = tmp_path / "pipe", tmp_path / "link", []
    os.mkfifo(path)
    link.symlink_to(path)
    for place in (path, link):
        reader = threading.Thread(target=lambda: read.append(path.read_bytes()))
        reader.start()
        write_whole(place, "through")
        reader.join(10)
    assert read == [b"through", b"through"]
    assert stat.S_ISFIFO(path.stat().st_mode)
    assert {entry.name for entry in tmp_path.iterdir()} == {"pipe", "link"}


def test_a_terminal_is_written_into(tmp_path: Path):
    master, slave = os.openpty()
    try:
        link = tmp_path / "terminal"
        link.symlink_to(os.ttyname(slave))
        check_out(link)
        write_whole(link, "shown")
        assert os.read(master, 100) == b"shown"
        assert stat.S_ISCHR(link.stat().st_mode)
    finally:
        os.close(master)
        os.close(slave)


def test_a_redirected_stream_is_appended_to(tmp_path: Path):
    path = tmp_path / "log.txt"
    path.write_text("before\n")
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND)
    try:
        stream = Path(f"/proc/self/fd/{descriptor}")
        if not stream.exists():
            pytest.skip("this system has no /proc/self/fd")
        assert is_stream(stream)
        inode = path.stat().st_ino
        write_whole(stream, "after\n")
        os.write(descriptor, b"later\n")
    finally:
        os.close(descriptor)
    assert path.read_text() == "before\nafter\nlater\n"
    assert path.stat().st_ino == inode


def test_a_failure_leaves_the_old_file_and_no_draft(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "old.txt"
    path.write_text("old")

    def fail(*_: object) -> None:
        raise OSError("no room")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="no room"):
        write_whole(path, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_places_that_cannot_be_written_to_are_named(tmp_path: Path):
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        write_whole(tmp_path / "missing" / "new.txt", "new")
    with pytest.raises(IsADirectoryError, match="is a folder"):
        write_whole(tmp_path, "new")
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "missing" / "new.txt")
    with pytest.raises(ValueError, match="there is no folder"):
        check_out(link)
