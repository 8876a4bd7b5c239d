# SPDX-License-Identifier: GPL-3.0-or-later
"""To come."""
def arguments(parser): pass
def run(options): return 0
