#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Goal:   heat2d gives the serial answer at any number of ranks, and says clearly what it cannot do.
# Method: the answer's checksum covers every bit of every cell; the pictures are compared as well.
#         Fields of odd sizes make blocks of unequal and of single-cell width. Environment LAUNCH
#         names another launcher, to validate the test itself on another MPI.
#
# usage: heat2d_test.sh MPIEXEC HEAT2D HEAT2D_SERIAL PICTURE CASES.SH
set -uo pipefail
launch=${LAUNCH-$(realpath -s "$1") --oversubscribe}
program=$(realpath -s "$2") serial=$(realpath -s "$3") picture=$(realpath -s "$4")
. "$5"
work=$(mktemp -d "${TEST_TMPDIR:-/tmp}/heat2d.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

# run RANKS ARGUMENT... : the program's words in out, its complaints in err
run() { timeout 100 $launch -n "$1" "$program" "${@:2}" > out 2> err < /dev/null; }

# same_as_serial RANKS PICTURE STEPS
same_as_serial() {
  begin "${2##*/} on $1 ranks"
  "$serial" --input "$2" --steps "$3" --output serial > serial.out
  if ! run "$1" --input "$2" --steps "$3" --output parallel; then
    fail "exit status: $(tail -3 err)"
  elif [[ $(grep checksum out) != "$(grep checksum serial.out)" ]]; then
    fail "checksums differ"
  elif ! cmp serial.ppm parallel.ppm || ! cmp serial.pgm parallel.pgm; then
    fail "pictures differ"
  elif [[ $(grep -c '^step ' out) -lt 10 ]]; then
    fail "no progress was shown"
  else
    pass
  fi
}

for ranks in 1 2 3 4 7 16; do same_as_serial $ranks "$picture" 300; done

begin "leaves nothing where it runs"
mkdir empty here && cd empty || exit 1
if ! TMPDIR=$work/here timeout 100 $launch -n 2 "$program" --input "$picture" --steps 1 \
  > ../out 2> ../err < /dev/null
then
  fail "exit status: $(tail -3 ../err)"
elif [[ -n $(ls -A) ]]; then
  fail "left $(ls -A)"
elif [[ ! -s $work/here/heat2d_$(id -u).ppm ]] ||
  ! grep -qF "wrote $work/here/heat2d_$(id -u).ppm" ../out; then
  fail "wrote no picture to TMPDIR, or did not say where"
else
  pass
fi
cd ..

# A text picture of 5 x 9 cells: on 5 ranks every block is one cell wide.
{ echo "P2 # odd"; echo "5 9 99"; seq 1 2 89; } > odd.pgm
for ranks in 2 5 7; do same_as_serial $ranks "$work/odd.pgm" 20; done

# complains RANKS EXPECTED ARGUMENT... : fails, and says EXPECTED exactly once
complains() {
  begin "says: $2"
  if run "$1" "${@:3}"; then
    fail "exit status 0"
  elif [[ $(grep -cF -- "$2" err) -ne 1 ]]; then
    fail "said instead: $(head -3 err)"
  else
    pass
  fi
}
echo "P2 1 2 255 7 8" > tiny.pgm
complains 2 "nowhere.pgm: No such file or directory" --input nowhere.pgm
complains 2 "unknown option --stepps" --stepps 3
complains 2 "not a number from 0 up" --steps many
complains 1 "No such file or directory" --steps 1 --input "$picture" --output /nowhere/x
complains 4 "more ranks than the picture can feed" --input "$work/tiny.pgm"
conclude
