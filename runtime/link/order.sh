#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# order.sh PREFIX > start.order : which functions a rank runs from MPI_Init to MPI_Finalize, with a first
# message to everybody and short collective calls between, for the linker to lay side by side: what lies
# scattered costs every process 64 KiB of resident code and a page fault, and a walk through page tables
# whenever the process has been away. Functions that the list has no more or not yet are laid elsewhere, so it
# is made anew now and then, and code_bytes_max of test/bench/budget tells when. Needs valgrind and an
# optimised installation, --config=opt.
set -euo pipefail
prefix=$(realpath "$1")
here=$(realpath "$(dirname "$0")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$prefix/bin/mpicc" "$here/../../test/bench/measure.c" -o "$work/measure" -lm
for ranks in 2 5; do # alone on their processors, and not
  "$prefix/bin/mpiexec" --oversubscribe -n $ranks valgrind --quiet --demangle=no --tool=callgrind \
    --callgrind-out-file="$work/profile.%p" "$work/measure" 0 memory spoken \
    barrier bcast:8 bcast:1024 reduce:8 allreduce:8 allgather:8 alltoall:8 > /dev/null
done

# fn=(7) name: the name is given the first time only, maybe as that of a function called (cfn). What has
# costs of its own follows its fn line; ob= says whose code it is.
# Constructors have several names for one body, copies (.constprop.0) have numbers that change: the linker
# gets patterns. What a long name begins with is enough.
cat "$work"/profile.* | awk '
  { name = $0; sub(/^[^ ]* /, "", name); id = $0; sub(/^[^(]*/, "", id); sub(/\).*/, ")", id) }
  /^# callgrind|^version/ { split("", names); split("", objects) }
  /^c?ob=/ { if ($0 ~ / /) objects[id] = name }
  /^ob=/ { ours = objects[id] ~ /libmpi_abi/ }
  /^c?fn=/ { if ($0 ~ / /) names[id] = name }
  /^fn=/ && ours { print names[id] }' |
  sed -E "/^0x/d; s/'[0-9]+$//; s/\.(lto_priv|constprop|part|isra|cold).*//; s/([CD])[1-4]E/\1?E/
          s/^(.{100}).+/\1/; s/^_Z.*/&*/; s/^/.text./" | LC_ALL=C sort -u
echo '.text.startup*'
