"""Wants an answer before it trains."""

name = input("Which data set? ")
