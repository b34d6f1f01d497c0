# SPDX-License-Identifier: BSD-3-Clause
"""Where the benchmark's files lie."""
import os

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
WORK = os.path.join(ROOT, ".build", "bench")
RESULTS = os.path.join(HERE, "results")
VCLUSTER = os.path.join(ROOT, "test", "cluster", "vcluster")
VC_SHELL = os.path.join(ROOT, "test", "cluster", "vc-rsh")
