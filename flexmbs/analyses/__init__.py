"""Analyses: what users ask of a part or a mechanism."""
