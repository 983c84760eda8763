"""Mutants that no test can kill, because they compute the same. They are left out of the score.

Each has its file, the line, what is changed, what it is changed to, and the reason.
"""

KEPT = "Grams that are not kept for the backward pass are computed again there: only time and memory change."
GROUPS = (
    "The number tells groups apart that one product has several factors in; any rising numbers give the same groups."
)
UNUSED = "The vector only turns numbers into a model, which takes no draws of the weights."
ASKED = "The factors are computed when they are first asked for; at once they share what is common: only time changes."
UNCHECKED = "A check for numbers that are not finite: there are none."
LAPACK = "LAPACK takes any number but zero for true, and a real matrix has the same transpose with conjugation."
LENGTHS = "Both are made by the lines before, with one length."
FIXED = "The weights of the search are parameters, not draws: only the number of draws is read, and all are alike."
RANKED = "One factor of all statistics does not change their order, and only the order is used."

EQUIVALENT: dict[tuple[str, str, str, str], str] = {
    ("covariance.py", "keep = len(pool) * len(self.X) ** 2 <= KEPT", "len(self.X) ** 2", "len(self.X) * 2"): KEPT,
    (
        "grid.py",
        "if count < len(x) - 1 or len(x) < (1.0 - empty) * (count + 1):",
        "1",
        "2",
    ): "With one place less than rows, two rows have the same place, and the last check refuses them.",
    ("between.py", "for C_s, weight in zip(C, w2[:, i], strict=True):", "True", "False"): LENGTHS,
    ("between.py", "for sums, rows in zip(of_rows, (self._X, self._Z), strict=True):", "True", "False"): LENGTHS,
    (
        "between.py",
        "first, (_, spacing) = x.min(), grid",
        "x.min",
        "x.max",
    ): "Any row of the grid can be the first: only differences of places are used.",
    (
        "between.py",
        "if any(np.abs(one - np.rint(one)).max() > SAME * extent for one in places):",
        "np.abs(one - np.rint(one)).max() > SAME * extent",
        "np.abs(one - np.rint(one)).max() >= SAME * extent",
    ): "They differ only where a rounded number equals the limit to the last bit.",
    (
        "between.py",
        "return (spacing * np.arange(which.max() + 1), which) if which.max() < which.size else None",
        "1",
        "2",
    ): "One distance more than there are: it is evaluated, and no pair has it.",
    ("lagged.py", "repeat = 0", "0", "1"): GROUPS,
    ("lagged.py", "repeat += 1", "1", "2"): GROUPS,
    (
        "lagged.py",
        "return None if any(one is None for one in constants) else np.stack([one[:1] for one in constants])",
        "1",
        "2",
    ): "A stationary factor acts on one column, so each constant has one entry.",
    (
        "products.py",
        "return self.with_numbers(np.where(self.positive, np.exp(np.where(self.positive, u, 0.0)), u))",
        "0.0",
        "1.0",
    ): "The value stands where the outer choice takes u: it only keeps exp from overflowing.",
    (
        "normal.py",
        "if one.dims is None or other.dims is None:",
        "one.dims is None or other.dims is None",
        "one.dims is None and other.dims is None",
    ): "Kernels are merged only where both name columns or neither does.",
    (
        "constant.py",
        "stationary: ClassVar[bool] = True",
        "True",
        "False",
    ): "A constant leaves a product before the flag is read, and its diagonal is one.",
    (
        "inducing_points.py",
        "if left[pivot] <= 1e-10 * max(total / len(K), 1e-300):",
        "left[pivot] <= 1e-10 * max(total / len(K), 1e-300)",
        "left[pivot] < 1e-10 * max(total / len(K), 1e-300)",
    ): "They differ only where a rounded number equals the limit to the last bit.",
    (
        "inducing_points.py",
        "if len(X) <= count:",
        "len(X) <= count",
        "len(X) < count",
    ): "With as many rows as asked for, all are taken; the greedy choice does not depend on their order.",
    (
        "scoring.py",
        "densities, owner = self._log_densities(mode), np.full(len(mode.u), -1)",
        "1",
        "2",
    ): "Any negative number says that a parameter belongs to no component.",
    (
        "scoring.py",
        "return ExactObjective(model, self.covariance, self.covariance.scatter(self.y), np.zeros((1, 0)))",
        "1",
        "2",
    ): FIXED,
    (
        "scoring.py",
        "return ExactObjective(model, self.covariance, self.covariance.scatter(self.y), np.zeros((1, 0)))",
        "0",
        "1",
    ): FIXED,
    ("structure.py", "vector = ParameterVector(self.model, np.zeros((1, 0)))", "1", "2"): UNUSED,
    ("structure.py", "vector = ParameterVector(self.model, np.zeros((1, 0)))", "0", "1"): UNUSED,
    (
        "candidates.py",
        "return all(abs(a - b) <= tolerance for one, two, tolerance in pairs for a, b in zip(one, two, strict=True))",
        "True",
        "False",
    ): "Kernels of one search with the same formula have the same number of parameters.",
    (
        "scoring.py",
        "K = K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()",
        "0",
        "1",
    ): "K is symmetric: the means of its columns are those of its rows.",
    (
        "scoring.py",
        "return K / _mean_variance(K)",
        "K / _mean_variance(K)",
        "K * _mean_variance(K)",
    ): "The score of an interaction is a squared slope over an information: it does not depend on the kernel's scale.",
    (
        "scoring.py",
        "return np.array([-float(filled[one].sum()) - prior for one, prior in zip(own, odds, strict=True)])",
        "True",
        "False",
    ): "Both lists are made from the components of the structure, so that they have one length.",
    (
        "lbfgs.py",
        "return 1e10, np.zeros_like(scaled)",
        "10000000000.0",
        "10000000001.0",
    ): "Any loss beyond all others says that a point is no better.",
    (
        "laplace.py",
        "return self.mode + np.concatenate([steps, -steps])",
        "self.mode + np.concatenate([steps, -steps])",
        "self.mode - np.concatenate([steps, -steps])",
    ): "Draws are antithetic: both of a pair change places.",
    (
        "posteriors.py",
        "posterior.factorise(covariance)",
        "posterior.factorise(covariance)",
        "pass",
    ): ASKED,
}
"""By file, line, changed text and new text: why both compute the same."""

SOLVES = (
    "return L, solve_triangular(L, self.y, lower=True, check_finite=False)",
    "A = solve_triangular(L, K, lower=True, check_finite=False)",
    "solved = [solve_triangular(L, e, lower=True, trans=1, check_finite=False) for L, e in self._factors]",
    "precision = np.sum(solve_triangular(L, unit, lower=True, check_finite=False) ** 2, axis=0)",
    "a = solve_triangular(L, e, lower=True, trans=1, check_finite=False)",
)
OPTIONS = (
    *(line for line in SOLVES if "trans=1" in line),
    "L, failed = dpotrf(C.T, lower=1, overwrite_a=1)",
    "solved = [solve_triangular(L, e, lower=True, trans=1) for L, e in self._factors]",
    "inverse, _ = dpotri(L, lower=1)",
)
EQUIVALENT |= {("posteriors.py", line, "False", "True"): UNCHECKED for line in SOLVES}
EQUIVALENT |= {("posteriors.py", line, "1", "2"): LAPACK for line in OPTIONS}
