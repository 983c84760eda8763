"""Kernels: the algebra, the base kernels, the normal form, and pools of many kernels evaluated together."""
