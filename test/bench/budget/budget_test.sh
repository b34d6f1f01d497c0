#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Goal:   a short message stays cheap: no allocation, no system call, few instructions, and a peer
#         costs few bytes.
# Method: traffic.c sends 32 messages with neither side waiting for the other, so that the counts
#         are the same on a busy machine. strace shows the system calls between two marks,
#         callgrind counts instructions there, traffic itself counts allocations.
#
# usage: budget_test.sh counts|instructions CASES.SH MPIEXEC TRAFFIC
set -uo pipefail

messages=32
# Instructions per message of 8 bytes between two ranks of a node, built with --config=opt. Each limit
# is what was measured and a fiftieth.
instructions_send_max=195      # MPI_Send
instructions_receive_max=608   # MPI_Recv of what has arrived: takes it from the ring and matches it
instructions_posted_max=262    # MPI_Irecv of what has not arrived yet
instructions_wait_max=266      # MPI_Waitall, arrival included
heap_bytes_per_peer_max=2048
shared_bytes_per_peer_max=16384  # both directions
# How much of the library's code a start makes resident. The kernel maps it in windows of 64 KiB, and
# what a start needs spans one window more or less as the code in front of it grows. If this grows by
# more, runtime/link/start.order has aged; see runtime/link/order.sh.
code_bytes_max=851968

what=$1
. "$2"
launch=${LAUNCH-$(realpath -s "$3") --oversubscribe} traffic=$(realpath -s "$4")
work=$(mktemp -d "${TEST_TMPDIR:-/tmp}/budget.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

# traffic_under RANKS CASE [TOOL...] leaves the output in the file `out`.
traffic_under() {
  rm -f there back
  mkfifo there back
  # shellcheck disable=SC2086  # several words
  timeout -k 5 60 $launch -n "$1" "${@:3}" "$traffic" "$work" "$2" > out 2> err < /dev/null && return
  fail "exit status: $(tail -2 err)"
  return 1
}

# at_most VALUE LIMIT WHAT
at_most() {
  printf '%s: %s, at most %s\n' "$3" "${1:-nothing}" "$2"
  if [[ ${1:-x} == *[!0-9]* ]]; then
    fail "no count of $3"
  elif [[ $1 -gt $2 ]]; then
    fail "$1 $3, at most $2"
  else
    pass
  fi
}

count_allocations() {
  begin "allocations in $1"
  traffic_under 2 "$1" || return
  [[ $(grep -c '^allocations' out) -eq 2 ]] || { fail "a rank said nothing"; return; }
  at_most "$(awk '/^allocations/ { sum += $2 } END { print sum }' out)" 0 "allocations"
}

count_system_calls() {
  begin "system calls in $1"
  rm -f trace.*
  traffic_under 2 "$1" strace -ff -qq -o trace || return
  # Counts what lies between close(-77) and close(-78), in the one thread that has these marks.
  at_most "$(awk '/^close\(-77\)/ { marks++; inside = 1; next }
                  /^close\(-78\)/ { inside = 0; next }
                  inside && !/^(---|\+\+\+)/ { calls++; print > "/dev/stderr" }
                  END { print marks == 1 ? calls + 0 : "" }' trace.*)" 0 "system calls"
}

count_instructions() {
  begin "instructions per message in $1"
  rm -f callgrind.*
  traffic_under 2 "$1" valgrind --tool=callgrind --collect-atstart=no \
    --callgrind-out-file=callgrind.%p || return
  # One rank has a measured part, the other counts nothing.
  local total
  total=$(awk '/^(totals|summary):/ { sum[FILENAME] = $2 } END { for (f in sum) all += sum[f]; print all }' \
    callgrind.*)
  [[ ${total:-0} -gt $messages ]] || { fail "nothing was counted"; return; }
  at_most $((total / messages)) "$2" "instructions"
}

case $what in
  counts)
    for part in send receive posted wait long; do count_allocations $part; done
    if ! strace -o /dev/null true 2> /dev/null; then
      begin "system calls"
      skip "processes may not be traced here"
    else
      for part in send receive posted wait; do count_system_calls $part; done
    fi
    for kind in heap shared; do
      begin "$kind bytes per peer"
      limit=${kind}_bytes_per_peer_max
      traffic_under 8 peers &&
        at_most "$(awk -v kind=$kind '$1 == kind "_bytes_per_peer" { print $2 < 0 ? 0 : $2 }' out)" \
          "${!limit}" "bytes"
    done
    ;;
  instructions)
    count_instructions send $instructions_send_max
    count_instructions receive $instructions_receive_max
    count_instructions posted $instructions_posted_max
    count_instructions wait $instructions_wait_max
    begin "resident code"
    # The kernel keeps a file in pieces as large as those in which it was written, and maps whole pieces.
    # So that every machine counts the same, the library is a copy that was written page by page.
    dd if="$(ldd "$traffic" | awk '/libmpi_abi/ { print $3 }')" of=libmpi_abi.so.1 bs=4096 2> copied ||
      fail "the library was not copied: $(tail -1 copied)"
    # The best of several counts, because a rank that waits for a processor runs more instructions.
    for _ in 1 2 3 4 5; do
      traffic_under 2 code env LD_PRELOAD="$work/libmpi_abi.so.1" &&
        awk '$1 == "code_bytes" { print $2 }' out >> sizes
    done
    at_most "$(sort -n sizes | head -1)" $code_bytes_max "bytes"
    ;;
  *)
    echo "budget_test.sh: counts or instructions?" >&2
    exit 2
    ;;
esac
conclude
