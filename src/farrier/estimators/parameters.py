"""The settings of estimators are checked as scikit-learn does it; what it says is made one short line."""

from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import InvalidParameterError

from farrier.model.quoting import one_line


class CheckedParameters(BaseEstimator):
    """An estimator whose settings are checked by scikit-learn's rules."""

    def _validate_params(self) -> None:
        """Raise InvalidParameterError, of one line, for a setting outside of its rule."""
        try:
            super()._validate_params()
        except InvalidParameterError as error:
            raise InvalidParameterError(one_line(str(error))) from None
