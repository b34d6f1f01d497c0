#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Goal:   a collective component of one operation, built from the example in the documentation with a
#         plain C compiler outside the tree, is found, listed, and used by a real job.
# Method: build it in an empty directory, name that in LAMINA_COMPONENT_PATH, run a program that
#         counts messages; a broken object beside it is reported and stops nothing.
set -u
mpiexec=$1 program=$2 extract=$3
example=$(dirname "$extract")
directory=$(mktemp -d "${TEST_TMPDIR:-/tmp}/plugin.XXXXXX")
trap 'rm -rf "$directory"' EXIT

fail() {
  printf 'plugin_test: %s\n' "$*" >&2
  exit 1
}

"$extract" "$example/README.md" "$directory" || fail "no example"
cp collectives/collective_abi.h runtime/component/component_abi.h "$directory"
(cd "$directory" && cc -std=c11 -Wall -Wextra -Werror -shared -fPIC -I. -o collective_acme.so example.c) ||
  fail "the example does not build"

ln -s "$(readlink -f "$mpiexec")" "$directory/lamina" || fail "no link"
info() { timeout 20 "$directory/lamina" info 2>&1; }
run() { timeout 50 "$mpiexec" --oversubscribe "$@" 2>&1; }

export LAMINA_COMPONENT_PATH=$directory
for ranks in 2 4 7; do
  run -n $ranks "$program" || fail "wrong with $ranks ranks"
done
run -n 4 --param collective.bcast.algorithm=acme_chain "$program" || fail "cannot be named"
run -n 4 --param collective.acme.priority=-1 "$program" && fail "used though it said no"

listed=$(info)
grep -Eq 'acme +1\.0\.0 +priority  60 .*chain' <<<"$listed" || fail "not listed: $listed"

echo "not an object" >"$directory/collective_broken.so"
output=$(run -n 2 "$program" 2>&1) || fail "a broken object beside it stopped the job"
[ "$(grep -c 'collective_broken.so is not used:' <<<"$output")" = 1 ] ||
  fail "a broken object is not named once: $output"
grep -q 'refused.*collective_broken.so' <<<"$(info)" ||
  fail "the broken object is not reported"

# Ranks that would choose differently say so instead of waiting for each other.
output=$(run -n 1 "$program" : -n 1 env -u LAMINA_COMPONENT_PATH "$program") &&
  fail "ranks with and without the component went on"
grep -q 'has loaded the components "acme 1.0.0 at priority 60", this process ""' <<<"$output" ||
  grep -q 'has loaded the components "", this process "acme 1.0.0 at priority 60"' <<<"$output" ||
  fail "a component that one rank lacks is not named: $output"
run -n 1 --param collective.include=basic "$program" : \
  -n 1 env -u LAMINA_COMPONENT_PATH "$program" | grep -q 'loaded the components' &&
  fail "a component that was left out matters"

# Ranks that were told to choose differently say so, too.
output=$(run -n 1 -x LAMINA_COLLECTIVE_ALLREDUCE_ALGORITHM=ring "$program" : -n 1 "$program") &&
  fail "ranks with different settings went on"
grep -q 'with ".*LAMINA_COLLECTIVE_ALLREDUCE_ALGORITHM=ring.*settings.*must be alike' <<<"$output" ||
  fail "a setting that one rank lacks is not named: $output"

unset LAMINA_COMPONENT_PATH
output=$(run -n 2 --param collective.bcast.algorithm=acme_chain "$program") && fail "used from nowhere"
grep -q 'there are: binomial' <<<"$output" || fail "the refusal does not help: $output"
echo PASS
