"""Steps while they happen: marked by the script, counted, and where to stop."""
