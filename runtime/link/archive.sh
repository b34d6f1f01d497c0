#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# archive.sh ARCHIVE COMPILER LTO-FLAGS KEEP WEAKEN OBJECT... : an archive of one object that has all of
# the others in it. KEEP and WEAKEN are patterns: symbols that stay visible, and those of them that a
# program may define itself.
set -euo pipefail
archive=$1 compiler=$2 lto=$3 keep=$4 weaken=$5
shift 5
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
set -f # patterns are for objcopy

# gold cannot dissolve section groups. Cut into partitions, GCC 12 fails here (add_symbol_to_partition_1).
link="$compiler -r -nostdlib -fuse-ld=bfd"
if [[ -n $lto ]]; then
  $link $lto -flto-partition=none -flinker-output=nolto-rel -O3 -w "$@" -o "$work/native.o"
  set -- "$work/native.o"
fi
# Groups would be thrown away for a program's own of the same name, and leave our local symbols undefined.
$link "$@" -l:libstdc++.a -Wl,--force-group-allocation -o "$work/all.o"

# objcopy makes weak symbols local, but not unique ones, which C++ has for inline variables.
patterns() { for pattern in $2; do printf -- '--%s=%s\n' "$1" "$pattern"; done; }
name=${archive##*/lib}
objcopy --wildcard --weaken-symbol='_Z*' $(patterns weaken-symbol "$weaken") "$work/all.o" "$work/weak.o"
# The C++ runtime's probes for debuggers are notes about sections that gold's --gc-sections throws away.
objcopy --wildcard $(patterns keep-global-symbol "$keep") --remove-section='.note.stapsdt' \
  --remove-section='.stapsdt.base' "$work/weak.o" "$work/${name%.a}.o"
ar rcD "$archive" "$work/${name%.a}.o"
