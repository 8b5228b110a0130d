"""What people see: views of answers (terminal), and files for other tools (exporters)."""
