#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Goal:   the two commands of the README work on a machine that has none of the packages.
# Method: debootstrap makes a minimal Debian in a temporary folder; a copy of this checkout is put
#         into it, and the commands run there with their own /proc, /dev and /tmp. Takes minutes,
#         needs root and the package archive, so it is in no tier but full.
#
# usage: fresh_root_test.sh [CASES.SH [COMMAND...]]     COMMAND: run (launcher/run) or suite (test/run)
set -uo pipefail
checkout=$(cd "$(dirname "$(readlink -f "$0")")/../.." && pwd)
. "${1:-$checkout/test/cases.sh}"
shift
[[ $# -gt 0 ]] || set -- run suite

begin "a minimal system"
if [[ $(id -u) -ne 0 ]] || ! command -v debootstrap > /dev/null; then
  skip "needs root and debootstrap"
  conclude
  exit
fi
. /etc/os-release
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 2> /dev/null | head -1)
work=$(mktemp -d "${TEST_TMPDIR:-/tmp}/fresh.XXXXXX")
root=$work/root
trap 'rm -rf --one-file-system "$work"' EXIT

if ! debootstrap --variant=minbase "$VERSION_CODENAME" "$root" "$mirror" > "$work/log" 2>&1; then
  tail -3 "$work/log"
  skip "no minimal system could be made: $(tail -1 "$work/log")"
  conclude
  exit
fi
pass

# The machine's own way to its archive, and no service started by an installation.
cp -r /etc/apt/sources.list.d /etc/apt/apt.conf.d "$root/etc/apt/"
[[ ! -f /etc/apt/sources.list ]] || cp /etc/apt/sources.list "$root/etc/apt/"
cp -r /usr/share/keyrings/. "$root/usr/share/keyrings/"
cp /etc/resolv.conf /etc/hosts "$root/etc/"
printf '#!/bin/sh\nexit 101\n' > "$root/usr/sbin/policy-rc.d"
chmod 755 "$root/usr/sbin/policy-rc.d"
mkdir "$root/checkout"
tar -C "$checkout" --exclude=./.git --exclude=./.build --exclude='./bazel-*' -cf - . |
  tar -C "$root/checkout" -xf -

# inside COMMAND... : runs it in the system, everything it starts ends with it
inside() {
  unshare --mount --pid --fork --kill-child bash -c '
    root=$1
    shift
    mount --make-rprivate /
    mount --bind "$root" "$root"  # pivot_root wants a mount
    mount -t proc proc "$root/proc"
    mount --rbind /sys "$root/sys"
    mount -t tmpfs -o mode=755 dev "$root/dev"
    for node in null zero full random urandom tty; do
      touch "$root/dev/$node" && mount --bind "/dev/$node" "$root/dev/$node"
    done
    ln -s /proc/self/fd "$root/dev/fd"
    mkdir "$root/dev/shm" "$root/dev/pts"
    mount -t tmpfs -o mode=1777 shm "$root/dev/shm"
    mount -t devpts -o newinstance,ptmxmode=666 pts "$root/dev/pts"
    ln -s pts/ptmx "$root/dev/ptmx"
    mount -t tmpfs -o mode=1777 tmp "$root/tmp"
    # Not chroot alone: who enters this mount namespace from another one (nsenter) would be outside.
    cd "$root"
    pivot_root . mnt
    umount -l mnt
    exec chroot . /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"
  ' inside "$root" "$@"
}

for command in "$@"; do
  begin "$command"
  start=$SECONDS
  case $command in
    run)
      inside /bin/bash -c 'cd /tmp && /checkout/launcher/run -n 4 heat2d' 2>&1 | tee "$work/out"
      status=${PIPESTATUS[0]} expected='^checksum [0-9a-f]{16}$'
      ;;
    suite)
      inside /bin/bash -c 'cd /checkout && test/run' 2>&1 | tee "$work/out"
      status=${PIPESTATUS[0]} expected='^[1-9][0-9]* passed, 0 failed$'
      ;;
  esac
  echo "$command took $((SECONDS - start)) s"
  if [[ $status -ne 0 ]]; then
    fail "exit status $status"
  elif ! grep -qE "$expected" "$work/out"; then
    fail "no line like $expected"
  else
    pass
  fi
done
conclude
