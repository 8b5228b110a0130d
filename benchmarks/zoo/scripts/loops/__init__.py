"""What some of these scripts build upon: classes from another file than the script."""
