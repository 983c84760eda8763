"""What is wrong is said in one line, with the right code, before any work; nothing is written over."""

import csv
import io
import os
import signal
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest

from farrier import Forecaster
from farrier.cli import source
from farrier.cli.screen import ends_cleanly
from farrier.fleet.csv_text import as_csv
from tests.cli.made_files import FAST, monthly, text_of

LONG = monthly(12)


BAD_FILES = {
    "empty.csv": ("", "is empty"),
    "header.csv": ("month,sales\n", "has 0 usable rows"),
    "one.csv": (text_of("sales", [(i,) for i in range(20)]), "has one column, 'sales'"),
    "words.csv": (text_of("month,sales", [(month, "many") for month, _ in LONG]), "'many' is not a number"),
    "twice.csv": (text_of("month,sales", [*LONG, LONG[0]]), "2020-01"),
    "missing.csv": (text_of("month,sales", [(month, "") for month, _ in LONG]), "no value in any of its 12 rows"),
    "short.csv": (text_of("month,sales", LONG[:10]), "has 10 usable rows"),
    "same.csv": (text_of("month,sales", [(month, 7) for month, _ in LONG]), "y is constant"),
    "two.csv": (
        text_of("month,a,b", [(month, i, i * i) for i, (month, _) in enumerate(LONG)]),
        "choose one of 'a', 'b'",
    ),
    "binary.csv": (b"\x89PNG\r\n\x1a\n\xff\xfe", "is not CSV text"),
    "broken.parquet": (b"no parquet", "cannot be read as Parquet"),
}


@pytest.fixture
def bad(tmp_path):
    for name, (content, _) in BAD_FILES.items():
        (tmp_path / name).write_bytes(content.encode() if isinstance(content, str) else content)
    return tmp_path


@pytest.mark.parametrize("command", [("explain",), ("forecast", "--horizon", "2"), ("compare",)])
@pytest.mark.parametrize("name", BAD_FILES)
def test_a_bad_file_gives_one_line_and_code_two(run, bad, command, name):
    code, out, err = run(command[0], bad / name, *command[1:])
    assert (code, out) == (2, "")
    assert BAD_FILES[name][1] in err
    assert len(err.splitlines()) == 1
    assert err.startswith("farrier: ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("explain", "airlin"), "did you mean 'airline'?"),
        (("explain", "missing.csv"), "there is no file 'missing.csv'"),
        (("explain", "."), "is a folder"),
        (("explain", "airline", "--target", "pasengers"), "did you mean 'passengers'?"),
        (("explain", "airline", "--out", "no/such/report.html"), "there is no folder 'no/such'"),
        (("explain", "airline", "--out", "."), "is a folder"),
        (("forecast", "airline", "--horizon", "2", "--levels", "0.8"), "0.8 is not a percentage from 1 to 100"),
        (("forecast", "airline", "--horizon", "2", "--id", "shop"), "there is no column 'shop'"),
        (("forecast", "airline", "--horizon", "200", "--backtest"), "144 rows leave 0 before the first origin"),
        (("explain", "airline", "--horizon", "140", "--backtest"), "try a horizon of at most 136"),
        (("compare", "airline", "--methods", "prophet"), "there is no method 'prophet'"),
        (("explain", "airline", "--periods", "0"), "0 is not the length of a period"),
        (("explain", "airline", "--regressors", "price"), "'price' is not one of the other columns"),
        (("explain", "airline", "--decimal", "dash"), "--decimal: 'dash' is no decimal mark: give comma or point"),
        (("explain", "airline", "--date-format", "foo"), "--date-format: 'foo' is unknown"),
        (("explain", "airline", "--sheet", "one"), "is not an Excel file"),
    ],
)
def test_a_bad_option_gives_one_line_and_code_two(run, arguments, message):
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize(
    "arguments", [("explain",), ("explain", "airline", "--prior", "lasso"), ("forecast", "airline")]
)
def test_what_typer_refuses_ends_with_code_two(run, arguments):
    assert run(*arguments)[0] == 2


def test_the_data_are_never_written_over(run, sales):
    before = sales.read_bytes()
    code, _, err = run("forecast", sales, "--horizon", "2", "--out", sales)
    assert code == 2
    assert "holds the data: choose another" in err
    assert sales.read_bytes() == before


def test_rows_without_time_have_no_future(run, tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(text_of("a,b,y", [(i % 5, i % 3, i) for i in range(20)]))
    assert "--horizon" in run("explain", path, "--horizon", "2")[2]
    code, _, err = run("forecast", path, "--horizon", "2")
    assert code == 2
    assert "name one with --time" in err


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (ValueError("a\nb"), 2, "a b"),
        (PermissionError(13, "Permission denied", "x.csv"), 2, "x.csv: Permission denied"),
        (FloatingPointError("the bound is not finite"), 1, "the bound is not finite"),
        (np.linalg.LinAlgError("singular"), 1, "singular"),
        (KeyError("x"), 1, "something went wrong inside (KeyError: 'x')"),
        (KeyboardInterrupt(), 130, "stopped"),
    ],
)
def test_no_traceback_reaches_the_user(run, monkeypatch, error, code, words):
    def fail(*arguments, **options):
        raise error

    monkeypatch.setattr(source, "open_table", fail)
    found, out, err = run("explain", "airline")
    assert (found, out) == (code, "")
    assert err.startswith(f"farrier: {words}")
    assert len(err.splitlines()) == 1


def test_bad_files_are_refused_before_jax_is_imported(bad):
    program = (
        "import sys\n"
        "from farrier.cli.app import app\n"
        "for path in sys.argv[1:]:\n"
        "    try:\n"
        "        app(args=['explain', path])\n"
        "    except SystemExit as ended:\n"
        "        assert ended.code == 2, ended.code\n"
        "assert 'jax' not in sys.modules\n"
    )
    paths = [str(bad / name) for name in BAD_FILES]
    result = subprocess.run([sys.executable, "-c", program, *paths], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr


@pytest.mark.skipif(os.name == "nt", reason="signals are different there")
def test_an_interrupt_ends_with_130_and_leaves_no_file(tmp_path):
    command = [sys.executable, "-m", "farrier.cli.app", "explain", "airline", "--out", str(tmp_path / "report.html")]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        while "shrinking" not in process.stderr.readline():
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=100) == 130
        assert process.stderr.read().splitlines()[-1] == "farrier: stopped"
    assert not list(tmp_path.iterdir())


def test_days_of_a_file_are_holidays(tmp_path):
    path = tmp_path / "days.csv"
    path.write_text("date,name\n2024-01-09,Big sale\n2024-02-09\n\n")
    assert source.read_days(path) == {"2024-01-09": "Big sale", "2024-02-09": "holiday"}


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (("--country", "XX"), "country: 'XX' is not known"),
        (("--holidays", "{folder}/none.csv"), "cannot be read: give a text file with a date in each line"),
        (("--holidays", "{folder}/bad.csv"), "'2024-99-99' is not a date such as 2024-12-25"),
    ],
)
def test_bad_holidays_get_one_line(run, sales, tmp_path, options, line):
    (tmp_path / "bad.csv").write_text("2024-99-99\n")
    code, out, said = run("explain", sales, *FAST, *(option.format(folder=tmp_path) for option in options))
    assert code == 2
    assert out == ""
    assert line in said


def test_a_forecast_is_written_with_all_its_digits():
    values = np.array([1 / 3, 1e-300 / 7, 12345678.901234567, 40.0])
    written = as_csv({"mean": values}).split()[1:]
    assert [float(text) for text in written] == values.tolist()
    assert written[-1] == "40"


def test_formulas_are_escaped_if_asked():
    ids = ["=cmd|' /C calc'!A0", "+1", "-2", "@SUM(A1)", "\tx", "plain", "a=b"]
    columns = {"=id": ids, "mean": np.full(len(ids), -1.5)}
    plain, escaped = (list(csv.reader(io.StringIO(as_csv(columns, escape=escape)))) for escape in (False, True))
    assert [row[0] for row in plain] == ["=id", *ids]
    assert [row[0] for row in escaped] == ["'=id", *(f"'{one}" for one in ids[:5]), "plain", "a=b"]
    assert {row[1] for row in escaped[1:]} == {"-1.5"}


def test_quiet_is_quiet_about_warnings_too(capfd):
    @ends_cleanly
    def command(*, quiet):
        warnings.warn("something odd", RuntimeWarning, stacklevel=1)

    with warnings.catch_warnings():
        warnings.simplefilter("default")
        command(quiet=True)
        assert capfd.readouterr().err == ""
        command(quiet=False)
    assert capfd.readouterr().err == "farrier: warning: something odd\n"


@pytest.mark.parametrize("name", ["n" * 20_000, "two words " * 2_000, "it's " * 4_000, "[red]" * 4_000])
def test_error_lines_are_short_whatever_the_names(run, tmp_path, name):
    path = tmp_path / "long.csv"
    path.write_text(text_of(f'month,"{name}"', monthly()[:5]))
    code, _, err = run("explain", path)
    assert code == 2
    assert len(err) < 600
    assert err.endswith("give at least 12\n")


def test_horizons_past_the_calendar_are_refused_before_the_fit(run, sales):
    for command in ("forecast", "explain"):
        for horizon in ("99000", "1000000000000"):
            code, out, err = run(command, sales, "--horizon", horizon, "--quiet")
            assert (code, out) == (2, "")
            assert err.startswith("farrier: horizon: ")
            assert len(err.splitlines()) == 1


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such signal")
def test_ctrl_c_while_libraries_load_is_one_line():
    code = (
        "import sys, farrier.cli.interrupts\n"
        "class Slow:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'typer': raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Slow())\n"
        "import farrier.cli.app"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert ran.stderr == "farrier: stopped\n"
    assert ran.returncode == -signal.SIGINT


def test_many_series_in_a_file_are_told_the_option_that_forecasts_them(run, tmp_path):
    path = tmp_path / "long.csv"
    rows = [f"{day},{symbol},{place}.5,{place}" for place, (day, _) in enumerate(LONG) for symbol in "ABCDE"]
    path.write_text("\n".join(["date,symbol,close,open", *rows]))
    many = "the times of 'date' come more than once, and once for each 'symbol': use farrier forecast --id 'symbol'"
    for command in ("forecast", "explain"):
        code, _, err = run(command, path, "--horizon", "3")
        assert code == 2
        assert err.startswith("farrier: --target: 2 columns hold numbers: choose one of 'close', 'open'; --regressors")
        assert err.endswith(f"{many}\n")
    code, _, err = run("forecast", path, "--target", "close", "--horizon", "3")
    assert (code, err) == (2, f"farrier: --id: {many}\n")
    code, _, err = run("explain", path, "--target", "close", "--horizon", "3")
    assert (code, err.splitlines()[-1]) == (2, f"farrier: --horizon: {many}, or leave --horizon out")
    with pytest.raises(ValueError, match=r"^id: the times of 'date' come more than once, .*: give id='symbol'"):
        Forecaster().fit(pd.read_csv(path), target="close")


def test_settings_in_errors_are_options(run, sales):
    code, _, err = run("explain", sales, "--method", "collapsed", "--likelihood", "student-t")
    assert (code, err.splitlines()[-1]) == (
        2,
        "farrier: --method collapsed needs --likelihood gaussian, got 'student-t': try --method auto.",
    )
