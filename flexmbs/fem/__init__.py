"""Finite elements: element matrices of the floating-frame theory, their assembly, loads and stress."""
