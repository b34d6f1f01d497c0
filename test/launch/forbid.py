#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs a command to which the kernel denies some system calls, as a container's seccomp profile does.

usage: forbid.py CALL[,CALL...] COMMAND [ARGUMENT...]
"""

import ctypes
import os
import struct
import sys

# x86-64 and AArch64 number them differently.
NUMBERS = {"x86_64": {"memfd_create": 319, "process_vm_readv": 310, "process_vm_writev": 311},
           "aarch64": {"memfd_create": 279, "process_vm_readv": 270, "process_vm_writev": 271}}
LOAD_NUMBER = (0x20, 0, 0, 0)
ALLOW = (0x06, 0, 0, 0x7fff0000)
FAIL_WITH_EPERM = (0x06, 0, 0, 0x00050001)
PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS, SECCOMP_MODE_FILTER = 22, 38, 2


def forbid(*calls):
    """Lets these system calls answer EPERM in this process and its descendants."""
    numbers = NUMBERS[os.uname().machine]
    steps = [LOAD_NUMBER]
    for call in calls:
        steps += [(0x15, 0, 1, numbers[call]), FAIL_WITH_EPERM]  # jump over the next one if it differs
    steps.append(ALLOW)
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
    program = struct.pack("HxxxxxxP", len(steps), ctypes.addressof(code))
    libc = ctypes.CDLL(None, use_errno=True)
    if (libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 or
            libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.create_string_buffer(program), 0, 0) != 0):
        raise OSError(ctypes.get_errno(), "prctl")


if __name__ == "__main__":
    forbid(*sys.argv[1].split(","))
    os.execvp(sys.argv[2], sys.argv[2:])
