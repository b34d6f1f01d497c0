#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Goal:   the table of what is written, in README.md, is true.
# Method: made again from the sources and compared.
status=$1 readme=$2
shift 2

found=$(sed -n '/^| chapter /,/^| \*\*all/p' "$readme")
expected=$("$status" "$@") || exit 1
[ "$found" = "$expected" ] && exit 0
echo "README.md is out of date; its table should be:"
echo "$expected"
exit 1
