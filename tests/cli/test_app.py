"""The command line prints results."""

import csv
import gzip
import io
import json
import re
import sys
import textwrap

import numpy as np
import pytest

from farrier.cli.app import spread
from farrier.cli.screen import blocks, rewrapped
from tests.cli.made_files import FAST, monthly, text_of


def test_datasets_lists_the_bundled_series(run):
    code, out, _ = run("datasets")
    assert code == 0
    assert "airline    144 rows" in out
    assert "co2        521 rows" in out


@pytest.mark.parametrize("asked", ["version", "--version"])
def test_version_is_a_version(run, asked):
    code, out, _ = run(asked)
    assert code == 0
    assert out.count(".") == 2


def test_explain_prints_words_and_a_forecast_and_writes_a_report(run, sales, tmp_path):
    report = tmp_path / "report.html"
    code, out, err = run("explain", sales, "--horizon", "2", "--out", report, "--quiet", *FAST)
    assert (code, err) == (0, "")
    assert out.startswith("Sales\n24 rows from January 2020 to December 2021, one a month, no gaps.\n")
    assert "of the variance" in out
    assert "2022-02" in out
    assert out.endswith(f"The report is {report}: open it in a browser.\n")
    assert report.read_text().startswith("<!doctype html>")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["report.html", "sales.csv"]


def test_explain_as_json_is_json_and_progress_goes_elsewhere(run, sales):
    code, out, err = run("explain", sales, "--horizon", "3", "--json", *FAST)
    assert code == 0
    assert "fitting ..." in err
    told = json.loads(out)
    assert told["data"]["rows"] == 24
    assert [row["month"] for row in told["forecast"]] == ["2022-01", "2022-02", "2022-03"]
    assert told["target"]["name"] == "sales"


def test_explain_says_how_good_forecasts_were(run, sales, tmp_path):
    report = tmp_path / "report.html"
    code, out, err = run("explain", sales, "--horizon", "3", "--backtest", "--out", report, "--quiet", *FAST)
    assert (code, err) == (0, "")
    assert "In 3 past forecasts of 3 months the error was " in out
    assert "of the values, 80 % intervals" in out
    assert "How good were such forecasts in the past?" in report.read_text()


def test_a_column_of_many_series_may_hold_numbers_and_text_but_not_the_target_of_a_series(run, tmp_path):
    rows = [(name, *row) for name in "ab" for row in monthly(14)]
    path = tmp_path / "shops.csv"
    remarked = [(*row, i if i % 3 else "x") for i, row in enumerate(rows)]
    path.write_text(text_of("unique_id,month,sales,remark", remarked))
    assert run("forecast", path, "--target", "sales", "--horizon", "1", "--jobs", "1", "--quiet", *FAST)[0] == 0
    path.write_text(text_of("unique_id,month,sales", [*rows, ("b", "2022-01", "closed")]))
    code, out, err = run("forecast", path, "--horizon", "1", "--jobs", "1", "--quiet", *FAST)
    assert (code, [line[0] for line in out.splitlines()]) == (1, ["u", "a"])
    assert "no forecast of 'b': column 'sales', line 30: 'closed' is not a number" in err


def test_the_screen_quotes_the_median(run, sales):
    code, out, _ = run("explain", sales, "--horizon", "2", "--quiet", *FAST)
    heads = next(line for line in out.splitlines() if line.startswith("month "))
    assert (code, heads.split()) == (0, ["month", "median", "low_80", "high_80", "low_95", "high_95"])


def test_the_screen_and_the_report_round_alike(run, tmp_path):
    """Intervals of 80 % are about 8 wide, and of 95 % 13: tables and sentences have the decimals of the former."""
    noise = np.random.default_rng(0).normal(0.0, 3.2, 40)
    rows = [(f"{2018 + i // 12}-{i % 12 + 1:02d}", f"{100 + 2 * i + noise[i]:.2f}") for i in range(40)]
    path, page = tmp_path / "sold.csv", tmp_path / "report.html"
    path.write_text(text_of("month,sold", rows))
    given = (*FAST, "--horizon", "2", "--quiet", "--out", page)
    code, out, err = run("explain", path, *given)
    assert (code, err) == (0, "")
    shown = [line.split() for line in out.splitlines() if line.startswith("2021-0")]
    html = page.read_text(encoding="utf-8")
    cells = re.findall(
        r'<th scope="row">(2021-0.)</th><td>(.*?)</td><td>(.*?) to (.*?)</td><td .*?>(.*?) to (.*?)<', html
    )
    assert [list(row) for row in cells] == shown
    assert all(re.fullmatch(r"\d+\.\d", cell) for row in shown for cell in row[1:])
    expected = re.search(r"Expect (\S+) on average over the next 2 months", html)
    assert expected is not None
    assert float(expected[1]) == pytest.approx(np.mean([float(row[1]) for row in shown]), abs=0.1)
    assert "." in expected[1]


def test_tables_with_several_inputs_are_explained_by_their_names(run, tmp_path):
    rng = np.random.default_rng(0)
    rows = [
        (f"{a:.3f}", f"{b:.3f}", 5, f"s{a:.0f}", f"{3 * a + rng.normal():.3f}") for a, b in rng.normal(size=(20, 2))
    ]
    path = tmp_path / "tests.csv.gz"
    path.write_bytes(gzip.compress(text_of("dose,age,site,batch,response", rows).encode()))
    code, out, err = run("explain", path, "--target", "response", "--scale", "identity")
    assert code == 0
    assert "numbers: 'dose', 'age'; categories: 'batch'; left out: 'site' (the same in every row)" in err
    assert "Response\n20 rows, three of four columns used, nothing missing." in out
    assert "effect of dose alone" in out


def test_forecast_writes_comma_separated_values(run, sales, tmp_path):
    code, out, err = run("forecast", sales, "--horizon", "2", "--levels", "50", "90", "--quiet", *FAST)
    assert (code, err) == (0, "")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert list(rows[0]) == ["month", "mean", "median", "low_50", "high_50", "low_90", "high_90"]
    assert [row["month"] for row in rows] == ["2022-01", "2022-02"]
    low, inner, outer = (float(rows[0][name]) for name in ("low_90", "low_50", "high_90"))
    assert low < inner < outer
    path = tmp_path / "forecast.csv"
    code, out, err = run("forecast", sales, "--horizon", "2", "--levels", "50", "90", "--out", path, "--quiet", *FAST)
    assert (code, out) == (0, "")
    assert list(csv.DictReader(io.StringIO(path.read_text()))) == rows


def test_a_backtest_stays_apart_from_the_values(run, sales):
    code, out, err = run("forecast", sales, "--horizon", "2", "--backtest", "--quiet", *FAST)
    assert code == 0
    assert len(out.splitlines()) == 3
    assert err.startswith("farrier: In 3 past forecasts of 2 months the error was ")
    assert len(err.splitlines()) == 2


def test_times_that_are_called_as_a_forecast_are_not_lost(run, tmp_path):
    path = tmp_path / "sales.csv"
    path.write_text(text_of("mean,sales", monthly()))
    code, out, _ = run("forecast", path, "--horizon", 2, "--quiet")
    assert code == 0
    assert out.splitlines()[0].startswith("(mean),mean,median")
    code, out, _ = run("explain", path, "--horizon", 2, "--quiet", "--json")
    assert code == 0
    assert next(iter(json.loads(out)["forecast"][0])) == "(mean)"


def test_forecast_knows_many_series_in_one_file(run, tmp_path):
    rows = [(name, *row) for name, offset in (("north", 0), ("south", 50)) for row in monthly(16, offset=offset)]
    path = tmp_path / "shops.csv"
    path.write_text(text_of("shop,month,sales", [*rows, ("new", "2020-01", 3)]))
    code, out, err = run("forecast", path, "--id", "shop", "--horizon", "1", "--jobs", "1", *FAST)
    assert code == 1
    assert "no forecast of 'new': series: 1 value" in err
    assert "1 of 3 series is missing" in err
    found = list(csv.DictReader(io.StringIO(out)))
    assert [(row["shop"], row["month"]) for row in found] == [("north", "2021-05"), ("south", "2021-05")]
    assert float(found[1]["mean"]) > float(found[0]["mean"])


GERMAN = "monat;absatz\n" + "".join(
    f"01.{i % 12 + 1:02d}.{2020 + i // 12};{1200 + 30 * i + 9 * (i * 7 % 5):,}".replace(",", ".") + ",50 €\n"
    for i in range(24)
)


def test_what_was_understood_of_a_file_is_said_in_one_line(run, tmp_path):
    path = tmp_path / "absatz.csv"
    path.write_bytes(GERMAN.encode("cp1252"))
    code, out, err = run("explain", path, *FAST)
    assert code == 0
    assert err.splitlines()[0] == (
        "farrier: read 24 rows; Windows-1252, dates as day.month.year, decimal comma, thousands points, 'absatz' in €"
    )
    assert out.startswith("Absatz (€)\n24 rows from January 2020 to December 2021")


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_minus_is_standard_input(run, monkeypatch, pack):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(pack(GERMAN.encode()))))
    code, out, err = run("forecast", "-", "--horizon", "1", "--quiet")
    assert (code, err) == (0, "")
    assert out.splitlines()[1].startswith("2022-01-01,")


def test_the_options_say_how_a_file_is_to_be_read(run, tmp_path):
    path = tmp_path / "two_ways.csv"
    rows = [
        (f"{day:02d}/{month:02d}/2021", f"{2000 + 97 * day * month % 5000}")
        for month in (1, 2, 4)
        for day in (1, 5, 7, 9)
    ]
    path.write_text("date;sales\n" + "".join(f"{date};{value[:-3]}.{value[-3:]}\n" for date, value in rows))
    forecast = ("forecast", path, "--horizon", "1", "--quiet")
    assert "--decimal point or --decimal comma" in run(*forecast)[2]
    assert "--date-format dmy or mdy" in run(*forecast, "--decimal", "comma")[2]
    code, out, _ = run(*forecast, "--decimal", "comma", "--date-format", "dmy")
    assert code == 0
    assert float(out.splitlines()[1].split(",")[1]) > 1000


def priced(rows, later):
    rng = np.random.default_rng(1)
    prices = rng.uniform(1, 3, rows + later)
    values = [f"{80 - 20 * price + i / 2 + rng.normal() / 10:.2f}" for i, price in enumerate(prices)]
    months = [stamp for stamp, _ in monthly(rows + later)]
    return [
        (month, f"{price:.3f}", value if i < rows else "")
        for i, (month, price, value) in enumerate(zip(months, prices, values, strict=True))
    ]


def test_regressors_take_their_future_from_the_rows_without_target(run, tmp_path):
    path = tmp_path / "prices.csv"
    path.write_text(text_of("month,price,sales", priced(30, 3)))
    named = (path, "--target", "sales", "--regressors", "price", "--scale", "identity", "--quiet")
    code, out, err = run("forecast", *named, "--horizon", "3")
    assert (code, err) == (0, "")
    found = [(row["month"], float(row["mean"])) for row in csv.DictReader(io.StringIO(out))]
    truth = [(month, 80 - 20 * float(price) + i / 2) for i, (month, price, _) in enumerate(priced(30, 3))][-3:]
    assert [month for month, _ in found] == [month for month, _ in truth]
    np.testing.assert_allclose([mean for _, mean in found], [mean for _, mean in truth], atol=1.5)
    code, out, err = run("explain", *named, "--horizon", "4")
    assert (code, out) == (2, "")
    assert "has 3 rows after the last 'sales' for 4 steps" in err


def test_a_backtest_knows_the_regressors(run, tmp_path):
    path = tmp_path / "prices.csv"
    path.write_text(text_of("month,price,sales", priced(30, 2)))
    named = (path, "--target", "sales", "--regressors", "price", "--horizon", "2", "--backtest", "--quiet", *FAST)
    (forecast, _, told), (explain, out, _) = run("forecast", *named), run("explain", *named)
    assert (forecast, explain) == (0, 0)
    # without the price, which goes up and down at random, errors would be about ten
    errors = [re.findall(r"the error was ([0-9.]+) on average", text) for text in (told, " ".join(out.split()))]
    assert all(len(found) == 1 and float(found[0]) < 1.0 for found in errors)


@pytest.mark.parametrize("width", [60, 80, 120])
def test_words_and_numbers_stay_whole_at_every_width(width):
    said = "Sales\n24 rows from January 2020.\n\n1. " + "It moves sales up and down by about 4.9 % of a mean. " * 5
    lines = rewrapped(textwrap.fill(said.split("\n\n")[1], 88, subsequent_indent="   "), width).splitlines()
    assert max(map(len, lines)) <= width
    assert not any(line.endswith(" 4.9") or line.startswith("   %") for line in lines)
    assert " ".join(" ".join(lines).split()) == " ".join(said.split("\n\n")[1].split())
    assert rewrapped("Sales\n24 rows.", 10) == "Sales\n24 rows."
    rows = [{"month": "2020-01", "mean": "123456.7", "low_80": "100000.0", "high_80": "150000.0", "": "a description"}]
    shown = blocks(rows, width // 3)
    assert [name for names in shown for name in names[1:]] == ["mean", "low_80", "high_80", ""]
    assert all(names[0] == "month" for names in shown)
    sizes = {name: max(len(name), len(rows[0][name])) for name in rows[0]}
    assert all(len(names) == 2 or sum(sizes[name] + 2 for name in names) - 2 <= width // 3 for names in shown)


def test_the_noise_that_is_asked_for_reaches_the_model(run):
    code, _, err = run("explain", "airline", "--likelihood", "student-t", "--method", "exact")
    assert code == 2
    assert "--method exact needs --likelihood gaussian, got 'student-t'" in err


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("f d --levels 80 95 --out o", "f d --levels 80 --levels 95 --out o"),
        ("f --levels 80 95 d.csv --quiet", "f --levels 80 --levels 95 d.csv --quiet"),
        ("c d --methods abcd paper --test 0.2", "c d --methods abcd --methods paper --test 0.2"),
        ("c --methods abcd d.csv", "c --methods abcd d.csv"),
        ("f d --periods 7 365.25", "f d --periods 7 --periods 365.25"),
        ("f d --regressors a b", "f d --regressors a --regressors b"),
        ("f --regressors a airline", "f --regressors a airline"),
    ],
)
def test_an_option_takes_several_values(typed, meant):
    assert spread(typed.split()) == meant.split()


def housing(path):
    rng = np.random.default_rng(0)
    rows = []
    for i in range(60):
        city, size = ("Berlin", "Munich", "Rome")[i % 3], rng.uniform(40.0, 150.0)
        price = 3.0 * size + {"Berlin": -50.0, "Munich": 150.0, "Rome": 0.0}[city] + rng.normal()
        age = "" if i % 9 == 0 else f"{rng.uniform(0.0, 60.0):.1f}"
        rows.append((f"A-{i}", "" if i == 7 else city, f"{size:.1f}", age, "" if i == 3 else f"{price:.2f}"))
    path.write_text(text_of("id,city,size,age,price", rows))
    return path


def test_the_target_that_nobody_named_is_said(run, tmp_path):
    rows = [(i, (7 * i) % 12, 2 * i + (5 * i) % 3) for i in range(12)]
    (tmp_path / "three.csv").write_text(text_of("a,b,c", rows))
    options = ("--scale", "identity", "--likelihood", "gaussian")
    _, _, err = run("explain", tmp_path / "three.csv", *options)
    assert "the target is 'c', the last column: name another one with --target" in err
    _, _, err = run("explain", tmp_path / "three.csv", "--target", "c", *options)
    assert "the last column" not in err


def test_a_table_with_text_empty_cells_and_an_id_is_explained(run, tmp_path):
    report = tmp_path / "report.html"
    arguments = ("--target", "price", "--scale", "identity", "--likelihood", "gaussian", "--out", report)
    code, out, err = run("explain", housing(tmp_path / "housing.csv"), *arguments)
    assert code == 0
    assert "one row has no 'price' and is left out" in err
    assert "numbers: 'size', 'age'; categories: 'city'; left out: 'id' (every row has its own value" in err
    assert "Price\n59 rows, three of four columns used, 8 cells empty." in out
    assert "Munich +" in out
    assert "The effect of city:" in out
    assert "What was done with each column" in report.read_text()


def test_a_target_of_text_is_explained_as_classes(run, tmp_path):
    rng = np.random.default_rng(1)
    path = tmp_path / "churn.csv"
    plans = [("basic", "pro")[i % 2] for i in range(80)]
    path.write_text(
        text_of("plan,churned", [(p, "yes" if (p == "basic") != (rng.random() < 0.1) else "no") for p in plans])
    )
    code, out, _ = run("explain", path, "--target", "churned", "--quiet")
    assert code == 0
    assert "The effect of plan: pro odds times 0.0" in " ".join(out.split())
    code, out, _ = run("explain", path, "--target", "churned", "--quiet", "--json")
    assert json.loads(out)["kind"] == "classes"


def test_three_classes_have_a_report_each(run, tmp_path):
    rng = np.random.default_rng(2)
    path, report = tmp_path / "animals.csv", tmp_path / "report.html"
    kinds = [("cat", "dog", "fox")[i % 3] for i in range(60)]
    sizes = [f"{'cdf'.index(kind[0]) + 0.3 * rng.normal():.3f}" for kind in kinds]
    path.write_text(text_of("size,animal", list(zip(sizes, kinds, strict=True))))
    code, out, _ = run("explain", path, "--target", "animal", "--out", report, "--quiet")
    assert code == 0
    assert "fox against all others" in out
    assert "report-3-fox.html" in report.read_text()
    assert (tmp_path / "report-3-fox.html").is_file()


def test_counts_are_explained_as_factors(run, tmp_path):
    rng = np.random.default_rng(3)
    path = tmp_path / "claims.csv"
    plans = [("basic", "pro")[i % 2] for i in range(80)]
    path.write_text(
        text_of("plan,x,claims", [(p, f"{rng.random():.3f}", rng.poisson(8 if p == "pro" else 2)) for p in plans])
    )
    code, out, _ = run("explain", path, "--target", "claims", "--likelihood", "poisson", "--quiet")
    assert code == 0
    assert "The effect of plan: pro +" in " ".join(out.split())
    assert "as a Poisson does" in " ".join(out.split())


def test_spare_parts_are_told_and_forecast_in_whole_numbers(run, tmp_path):
    rng, path = np.random.default_rng(4), tmp_path / "parts.csv"
    sold = (rng.random(120) < 0.2) * (2 + rng.poisson(3.0, 120))
    weeks = np.datetime64("2022-01-02") + 7 * np.arange(120)
    path.write_text(text_of("week,sold", list(zip(weeks, sold, strict=True))))
    code, out, _ = run("explain", path, "--horizon", "3", "--quiet")
    said = " ".join(out.split())
    assert code == 0
    assert "look like counts of a constant rate" in said
    assert "Sold is above zero in about one week of " in said
    row = said.partition("2024-04-21 ")[2].split()[:5]
    assert row[0] == "0"
    assert all(cell.isdigit() for cell in row)
    code, out, _ = run("forecast", path, "--horizon", "2", "--quiet")
    assert code == 0
    assert [float(cell) % 1.0 for cell in out.splitlines()[1].split(",")[2:]] == [0.0] * 5


def test_classes_of_a_series_are_refused(run, sales):
    code, _, err = run("explain", sales, "--time", "month", "--likelihood", "classes")
    assert code == 2
    assert "--likelihood classes: a series has no classes" in err
