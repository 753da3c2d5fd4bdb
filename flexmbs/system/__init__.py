"""System: bodies, joints and forces laid out as arrays, and the equations of motion at (t, q, v)."""
