"""The settings of estimators are checked as scikit-learn does it; what it says is made one short line."""

from importlib import import_module

from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import InvalidParameterError

from farrier.data.quoting import one_line


class CheckedParameters(BaseEstimator):
    """An estimator whose settings are checked by scikit-learn's rules."""

    def _validate_params(self) -> None:
        """Raise an error of one line for a setting outside of its rule, or for packages that the setting needs."""
        try:
            super()._validate_params()
        except InvalidParameterError as error:
            raise InvalidParameterError(one_line(str(error))) from None
        if self.get_params(deep=False).get("method") == "stochastic":
            import_module("farrier.paper")  # says which packages are missing
