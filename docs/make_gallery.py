"""Write the eight reports of the gallery, all or those that are named, into docs/gallery/.

    python docs/make_gallery.py
    python docs/make_gallery.py airline rents

Two series are bundled; the other data are made here, so that what is true of them is known: gallery.md says it.
"""

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

import farrier

FOLDER = Path(__file__).parent / "gallery"


def airline(path: Path) -> None:
    """Monthly passengers that grow by a rate, with a season in proportion."""
    air = farrier.datasets.load("airline")
    months = pd.Series(air.y, pd.PeriodIndex(air.labels, freq="M"), name="passengers")
    farrier.Forecaster().fit(months).report(path, title=air.title, horizon=24, backtest=True)


def co2(path: Path) -> None:
    """Monthly carbon dioxide: a rise that steepens, and a season."""
    air = farrier.datasets.load("co2")
    months = pd.Series(air.y, pd.PeriodIndex(air.labels, freq="M"), name="CO2")
    farrier.Forecaster().fit(months).report(path, title=air.title, horizon=36)


def visits(path: Path) -> None:
    """Four weeks of hourly visits: busy afternoons, and 40 fewer an hour on Saturdays and Sundays."""
    hours = pd.date_range("2024-03-04", periods=28 * 24, freq="h")
    daily = 60.0 * np.exp(-0.5 * ((hours.hour - 15) / 3.5) ** 2)
    noise = 5.0 * np.random.default_rng(1).standard_normal(len(hours))
    y = pd.Series(120.0 + daily - 40.0 * (hours.day_of_week >= 5) + noise, hours, name="visits")
    farrier.Forecaster().fit(y).report(path, title="Visits to a site, hourly", horizon=72)


def walk(path: Path) -> None:
    """A price that moves by about 1 a day, up or down by chance: nothing to predict but the last value."""
    days = pd.date_range("2024-01-01", periods=250, freq="B")
    y = pd.Series(100.0 + np.random.default_rng(2).standard_normal(250).cumsum(), days, name="price")
    farrier.Forecaster().fit(y).report(path, title="A price, daily", horizon=20)


def orders(path: Path) -> None:
    """Daily orders: 25 more from 1 June on, 15 fewer on Sundays, and three days on which the count went wrong."""
    days = pd.date_range("2024-01-01", periods=270)
    rng = np.random.default_rng(3)
    y = 80.0 + 25.0 * (days >= "2024-06-01") - 15.0 * (days.day_of_week == 6) + 4.0 * rng.standard_normal(270)
    y[[40, 141, 222]] += [70.0, -60.0, 90.0]
    series = pd.Series(y, days, name="orders")
    farrier.Forecaster().fit(series).report(path, title="Orders, daily", horizon=28)


def rents(path: Path) -> None:
    """A table of rents: 11 a square metre, a U in the age of the house lowest near 40, and three cities."""
    rng = np.random.default_rng(4)
    city = rng.choice(["Berlin", "Leipzig", "Munich"], 220)
    homes = pd.DataFrame({"area": rng.uniform(25, 120, 220), "age": rng.uniform(0, 90, 220), "city": city})
    extra = homes.city.map({"Berlin": 0.0, "Leipzig": -150.0, "Munich": 250.0})
    rent = 11.0 * homes.area + 0.12 * (homes.age - 40.0) ** 2 + extra + 30.0 * rng.standard_normal(220)
    model = farrier.Regressor().fit(homes, rent.rename("rent"))
    model.describe(title="Monthly rents", target_name="rent", target_unit="euro").report(path)


def churn(path: Path) -> None:
    """Customers who leave: less likely the longer they have been there, more likely on monthly contracts."""
    rng = np.random.default_rng(5)
    people = pd.DataFrame({"tenure": rng.uniform(0, 60, 260), "contract": rng.choice(["monthly", "yearly"], 260)})
    odds = 1.0 - 0.07 * people.tenure + 1.8 * (people.contract == "monthly")
    left = pd.Series(np.where(rng.logistic(size=260) < odds, "yes", "no"), name="churned")
    farrier.Classifier().fit(people, left).report(path, title="Who leaves")


def claims(path: Path) -> None:
    """Counts of claims: fewer with the age of the driver, twice as many in the city."""
    rng = np.random.default_rng(6)
    drivers = pd.DataFrame({"age": rng.uniform(18, 80, 300), "place": rng.choice(["city", "country"], 300)})
    rate = np.exp(1.6 - 0.02 * drivers.age + np.log(2.0) * (drivers.place == "city"))
    counts = pd.Series(rng.poisson(rate), name="claims")
    farrier.Regressor(likelihood="poisson").fit(drivers, counts).report(path, title="Claims of drivers")


REPORTS: dict[str, Callable[[Path], None]] = {
    made.__name__: made for made in (airline, co2, visits, walk, orders, rents, churn, claims)
}


def main(names: list[str]) -> None:
    """Write the reports."""
    FOLDER.mkdir(exist_ok=True)
    for name in names or REPORTS:
        REPORTS[name](FOLDER / f"{name}.html")
        print(f"written: {FOLDER / name}.html", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
