"""Covariance matrices of the rows and their derivatives: products of kernels, lags, regular grids."""
