"""The viewer's server: the report's page for one run or a folder of them, live ones too."""
