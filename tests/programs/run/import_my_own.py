"""Imports modules of its own folder that have the names of standard ones."""

import dataclasses
import inspect
import json
import struct

print([module.MINE for module in (dataclasses, inspect, json, struct)])
