"""Sandboxes of paddock for agent frameworks. Each module is for one framework; `shared` is what they have in common."""
