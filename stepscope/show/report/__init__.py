"""The report: what the page in a browser is given, and the one HTML file that holds it all."""
