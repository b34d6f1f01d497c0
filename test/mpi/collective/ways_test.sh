#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Goal:   straight between the buffers is tried beside the board, and of long calls few decide.
# Method: the line at level debug that ends a trial comes after as many calls as it takes at least, and
#         not before. Ranks that share CPUs try this in an alltoall, others in a bcast too.
set -u
mpiexec=$1 program=$2

fail() {
  printf 'ways_test: %s\n' "$*" >&2
  exit 1
}

# trials OPERATION BYTES CALLS AREA prints what $ranks ranks that wait in $mode said about their trials.
trials() {
  local output
  output=$(timeout 50 "$mpiexec" --oversubscribe -n $ranks --param p2p.wait.mode=$mode \
    --param collective.board.calls_before=0 \
    --param collective.board.area_bytes="$4" --param base.log.level=debug \
    "$program" "$1" "$2" "$3" 2>&1) || fail "$* failed: $output"
  grep 'weighed:' <<< "$output"
}

# weighs OPERATION BYTES CALLS AREA checks that so many calls decide.
weighs() {
  local said
  said=$(trials "$@") || return 1
  [[ $said == *"weighed: the board "*" ns, the buffers themselves "*" ns" ]] || fail "$*: $said"
}

# decides OPERATION BYTES LEAST AREA checks that at least so many calls decide, and at most 12 of each way.
decides() {
  weighs "$1" "$2" $(($3 - 1)) "$4" && fail "$*: fewer calls were enough"
  weighs "$1" "$2" $((8 + 12 * ways)) "$4" || fail "$*: nothing was weighed"
}

# Two processes as two ranks are: one reads what the other has, by the call that the library uses.
may_read_each_other() {
  python3 - << 'END'
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
data = ctypes.create_string_buffer(b"x", 8)
class Part(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("bytes", ctypes.c_size_t)]
part = Part(ctypes.addressof(data), 8)
ready, done = os.pipe(), os.pipe()
owner = os.fork()
if owner == 0:
    libc.prctl(0x59616D61, ctypes.c_ulong(-1), 0, 0, 0)  # PR_SET_PTRACER, anybody
    os.write(ready[1], b"x")
    os.close(done[1])
    os.read(done[0], 1)
    os._exit(0)
os.read(ready[0], 1)
reader = os.fork()
if reader == 0:
    one = ctypes.byref(part)
    os._exit(libc.process_vm_readv(owner, one, ctypes.c_ulong(1), one, ctypes.c_ulong(1), ctypes.c_ulong(0)) != 8)
status = os.waitpid(reader, 0)[1]
os.close(done[1])
os.waitpid(owner, 0)
sys.exit(status != 0)
END
}

ranks=4 mode=oversubscribed
if ! may_read_each_other; then
  echo "SKIP: processes may not read each other's memory here (process_vm_readv)"
  exit 0
fi
ways=2
short=$((8 + 6 * ways)) long=$((1 + 3 * ways))

# check OPERATION decides short and long calls of it.
check() {
  decides $1 32768 $short 4194304
  decides $1 131072 $long 65536
  # How many calls are too many depends on disturbances, which hardly make it three times as many.
  local attempts=0
  until weighs $1 131072 $((short - 1)) 65536; do
    ((++attempts < 3)) || fail "$1: a long one takes as many as a short one"
  done
}
check alltoall
ranks=2 mode=exclusive
check bcast
# The size of a bcast is all that it sends and not the part of each rank.
decides bcast 65536 $short 65536
echo PASS
