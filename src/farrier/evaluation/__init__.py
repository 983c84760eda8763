"""Covariances of rows and their derivatives: products of kernels, lags, regular grids."""
