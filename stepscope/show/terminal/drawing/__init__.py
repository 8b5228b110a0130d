"""What the views are drawn with: pages, tables, bars, numbers and short paths."""
