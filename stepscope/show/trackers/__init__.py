"""What `--log` adds to the script's own run in an experiment tracker."""
