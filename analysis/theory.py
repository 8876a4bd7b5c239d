# SPDX-License-Identifier: GPL-3.0-or-later
"""All theory that results are held against: balls into bins, places, queues, routing."""
from __future__ import annotations

from potluck.theory_balls import *  # noqa: F403
from potluck.theory_places import *  # noqa: F403
from potluck.theory_queues import *  # noqa: F403
from potluck.theory_routing import *  # noqa: F403
