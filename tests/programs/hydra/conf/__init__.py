"""Hydra reads its configuration from here, as a package where the application is a command."""
