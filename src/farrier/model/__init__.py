"""From rows to a fitted model: the scale of the target, the choice of inference, the fit, the result."""
