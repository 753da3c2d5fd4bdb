"""Integrators: how (t, q, v) advances."""
