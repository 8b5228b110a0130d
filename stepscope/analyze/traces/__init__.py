"""Operator windows and traces of other tools: their events, trees and lines."""
