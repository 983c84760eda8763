"""Regressor, Classifier, Forecaster, and models as files."""
