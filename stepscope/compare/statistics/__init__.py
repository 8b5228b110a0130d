"""How sure a speed-up is."""
