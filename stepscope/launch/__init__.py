"""Starting a script: what to run, in which folder, under which launcher; the supervisor."""
