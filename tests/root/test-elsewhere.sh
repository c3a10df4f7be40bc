#!/bin/bash
# Touches: nothing; reads the recordings in tests/data.
# SPDX-License-Identifier: GPL-2.0-or-later
# long kernels: arm64-6.12 arm64-16k-6.12
#
# What was recorded on another architecture, and with pages of another size, is read here as it is there.
exec bash "$(dirname "$0")/../system/test-recordings.sh"
