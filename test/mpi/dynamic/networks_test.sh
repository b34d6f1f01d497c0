#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Goal:   processes of one machine meet and spawn whatever networks it has, and with none at all.
# Method: network namespaces with the interfaces and addresses that a case is about.
launcher=$PWD/$1
program=$(readlink -f "$2")
# shellcheck source=test/cases.sh
. test/cases.sh
PATH=$PATH:/usr/sbin:/sbin

# in_network NAME WHERE SETUP...: runs the program in a network that SETUP makes.
in_network() {
  local name=$1 where=$2 output
  shift 2
  begin "$name"
  # shellcheck disable=SC2016,SC2086
  if output=$(timeout -k 5 100 unshare -n sh -ec "$* exec "'"$@"' - "$launcher" --oversubscribe -n 2 \
    "$program" $where 2>&1); then
    pass
  else
    fail "status $?: $output"
  fi
}

# The names of addresses are written in full, because no name service is there.
link='ip link add link0 type veth peer name link1; ip link set link0 up; ip link set link1 up;'
link+=' ip addr flush dev link0; ip addr flush dev link1;'
link+=' ip addr add fe80::7/64 dev link0 nodad;'
up='ip link set lo up;'

if ! unshare -n true 2> /dev/null || ! command -v ip > /dev/null; then
  begin "networks"
  skip "a network of its own needs root and ip"
elif ! unshare -n sh -ec "$link" 2> /dev/null; then
  begin "networks"
  skip "this kernel has no virtual interfaces or no IPv6"
else
  in_network "no interface is up" "" ''
  in_network "no interface is up, all" all ''
  in_network "loopback alone" "" "$up"
  in_network "IPv6 by name" ::1 "$up"
  in_network "IPv4 alone" all "$up ip addr del ::1/128 dev lo;"
  in_network "a link" fe80::7 "$up $link"
  in_network "a link by name" fe80::7%link0 "$up $link"
  in_network "a link among others" all "$up $link"
fi
conclude
