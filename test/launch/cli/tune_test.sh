#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Goal:   `lamina tune` measures on the ranks it is given, writes what later jobs read, and leaves the
#         rest of the file alone; a measurement that failed writes nothing.
# Method: the built program with a home of its own; `lamina info` tells where a value comes from.
set -u
mpiexec=$1
home=$(mktemp -d "${TEST_TMPDIR:-/tmp}/tune.XXXXXX")
trap 'rm -rf "$home"' EXIT
ln -s "$(readlink -f "$mpiexec")" "$home/lamina"
mkdir "$home/.config"
conf=$home/.config/lamina.conf
unset XDG_CONFIG_HOME
export HOME=$home

fail() {
  printf 'tune_test: %s\n' "$*" >&2
  exit 1
}
lamina() { timeout 100 "$home/lamina" "$@"; }

printf '# mine\np2p.wait.mode = oversubscribed\n' >"$conf"
# On a machine that is busy with other things a figure may drown in noise, which is said.
for attempt in 1 2 3; do
  said=$(lamina tune -n 2 --oversubscribe -o "$conf" 2>"$home/error") || fail "it fails: $(cat "$home/error")"
  grep -q 'drowned in noise' "$home/error" || break
  cat "$home/error" >&2
done
grep -q 'every later job reads' <<<"$said" || fail "does not say who reads it: $said"
for name in alpha_us beta_ns_per_kbyte gamma_ns_per_kbyte; do
  grep -Eq "^collective\.select\.$name = [0-9]+\.[0-9]+$" "$conf" || fail "no $name: $(cat "$conf")"
done
# An empty message and a copied MiB take some time, and less than a second.
awk '/alpha_us|beta/ && !($3 > 0 && $3 < 1e6) { exit 1 }' "$conf" || fail "absurd: $(cat "$conf")"
grep -q network "$conf" && fail "one node has no network"
grep -q '^# mine$' "$conf" && grep -q '^p2p.wait.mode = oversubscribed$' "$conf" ||
  fail "other lines are lost"

value=$(awk '$1 == "collective.select.alpha_us" { print $3 }' "$conf")
lamina info --params collective | grep -E '^ *collective\.select\.alpha_us' | grep -q 'lamina.conf' ||
  fail "later runs do not read $value"

lamina tune -n 3 --oversubscribe -o "$conf" >"$home/second" || fail "it fails the second time"
[ "$(grep -c 'collective.select.alpha_us' "$conf")" = 1 ] || fail "two lines for one name"

# Through a link, and whoever could not read the file still cannot.
mkdir "$home/dotfiles"
mv "$conf" "$home/dotfiles/mine"
chmod 600 "$home/dotfiles/mine"
ln -s "$home/dotfiles/mine" "$conf"
lamina tune -n 2 --oversubscribe -o "$conf" >"$home/third" || fail "it fails the third time"
[ -L "$conf" ] && [ "$(stat -c %a "$home/dotfiles/mine")" = 600 ] || fail "the link or the mode is lost"
grep -q '^# mine$' "$conf" || fail "the link's file is not what was written"
lamina tune -n 2 -o "$home/dotfiles" 2>"$home/error" && fail "a directory is a table?"
grep -q 'it is no regular file' "$home/error" || fail "no reason: $(cat "$home/error")"
lamina tune -n 2 -o /dev/null 2>"$home/error" && fail "a device is a table?"
[ -c /dev/null ] || fail "/dev/null is gone"

cp "$conf" "$home/before"
lamina tune -n 1 -o "$conf" 2>"$home/error" && fail "one rank is enough?"
grep -q 'messages need two ranks' "$home/error" || fail "no reason: $(cat "$home/error")"
cmp -s "$conf" "$home/before" || fail "a failure wrote"
lamina tune -n 2 --oversubscribe | grep -q '^collective.select.alpha_us = ' || fail "does not print"
echo PASS
