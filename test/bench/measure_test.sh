#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Goal:   every row of the table can be measured with every number of ranks that the table has.
# Method: rows are measured for a few milliseconds each; a value must come out, whatever it is.
#
# usage: measure_test.sh CASES.SH MPIEXEC MEASURE INIT FLOOR PACK THREADS STOPWATCH WINDOWS SPAWN FILES
set -uo pipefail
. "$1"
launch=${LAUNCH-$(realpath -s "$2") --oversubscribe}
measure=$(realpath -s "$3") init=$(realpath -s "$4") floor=$(realpath -s "$5")
pack=$(realpath -s "$6") threads=$(realpath -s "$7") stopwatch=$(realpath -s "$8")
windows=$(realpath -s "$9") spawn=$(realpath -s "${10}") files=$(realpath -s "${11}")

# measured RANKS ROW...
measured() {
  local rows=("${@:2}") row out
  # shellcheck disable=SC2086  # several words
  out=$(timeout -k 5 60 $launch -n "$1" "${program-$measure}" 0.02 "${rows[@]}" < /dev/null 2>&1)
  for row in "${rows[@]}"; do
    begin "$row on $1 ranks"
    if grep -qE "^$row [0-9]" <<< "$out"; then pass; else fail "no value: $(tail -2 <<< "$out")"; fi
  done
}

together=(idle pairs:8 stencil:1024 barrier bcast:8 allreduce:8 allreduce:65536 allreduce:1048576 alltoall:8
  reduce:8 reduce_scatter:1024 allgather:1024 allgather:1048576 alltoall:1048576)
pairs=()
for bytes in 0 8 64 1024 4096 16384 65536 262144 1048576 4194304; do pairs+=("latency:$bytes"); done
for bytes in 8 1024 4096 65536 262144 1048576 4194304; do pairs+=("rate:$bytes"); done
pairs+=(both:262144 both:4194304 exchange:65536 any:8 started:8 vector:1024 early:8 shifted:16384 queue:1000)
measured 2 memory spoken peer "${pairs[@]}" "${together[@]}"
for ranks in 4 8 16; do measured $ranks memory spoken peer "${together[@]}"; done

copies=(memcpy:65536)
for layout in vector wide indexed indexed_block struct subarray; do
  copies+=("pack-$layout:1024" "unpack-$layout:65536")
done
program=$pack measured 1 "${copies[@]}"
kinds=(file-open:0 file-ints:1000 file-ints-read:1000)
for kind in own own-read strided strided-read strided-later; do kinds+=("file-$kind:65536"); done
for kind in "${kinds[@]}"; do program=$files measured 4 "$kind"; done
program=$files measured 1 file-write:8 file-read:8 file-holes:1024 file-holes-read:1024
accesses=(allocate-busy:8 create-get:65536)
for access in put get accumulate fetch swap rate shared locked all counter fence post make; do
  accesses+=("allocate-$access:8")
done
program=$windows measured 2 "${accesses[@]}"
program=$spawn measured 1 spawn:1 spawn:4
program=$threads measured 2 threads:1 threads:2 threads:4 threads:8

begin "beside each row, how far apart two ranks are"
# shellcheck disable=SC2086  # several words
out=$(timeout -k 5 60 $launch -n 2 "$measure" 0.02 memory latency:8 < /dev/null 2>&1)
if grep -qE '^memory [0-9.]+ 0 0$' <<< "$out" && grep -qE '^latency:8( 0*[0-9.]*[1-9][0-9]*){3}$' <<< "$out"; then
  pass
else
  fail "$out"
fi

begin "a rank that waits burns no processor, alone on it or not"
for ranks in 2 8; do
  # shellcheck disable=SC2086  # several words
  percent=$(timeout -k 5 60 $launch -n $ranks "$measure" 0 idle < /dev/null | sed -n 's/^idle //p')
  [[ -n $percent && ${percent%%.*} -lt 2 ]] || break
done
if [[ -n $percent && ${percent%%.*} -lt 2 ]]; then pass; else fail "$percent per cent, $ranks ranks"; fi

begin "init and finalize, three times"
# shellcheck disable=SC2086  # several words
times=$(timeout -k 5 60 "$stopwatch" 3 20 $launch -n 2 "$init" < /dev/null 2>&1)
if [[ $(grep -cE '^[0-9.]+$' <<< "$times") -eq 3 ]]; then pass; else fail "no three times: $times"; fi

begin "a command that hangs is ended, and gives no time"
hung=$("$stopwatch" 2 1 sh -c 'cat /dev/zero > /dev/null' 2>&1)
if [[ $? -eq 1 && $hung == hung ]]; then pass; else fail "$hung"; fi

begin "the bare machine"
lines=(line post:1024 copy:65536 add order socket:8 fork meet:8 tell:8 tell:8:1024 alltoall:2:65536 allgather:2:65536
  ask:4 ask-busy:4)
if [[ $("$floor" "${lines[@]}" nothing copy:0 meet:1 | sed 's/ [0-9].*//') == "$(printf '%s\n' "${lines[@]}" \
  'nothing -1' 'copy:0 -1' 'meet:1 -1')" ]]; then pass; else fail "not a value of each line"; fi
conclude
