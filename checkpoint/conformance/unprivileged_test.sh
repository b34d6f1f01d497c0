#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Goal:   an ordinary user's job can be saved: criu needs no right outside of the shepherd's namespaces.
# Method: the conformance suite as process 1 of user, pid and mount namespaces of its own; root becomes a
#         user whom nobody is, so that what other processes use counts against no limit of ours.
set -euo pipefail
own=(unshare --user --map-root-user --pid --fork --mount-proc)
if [[ $(id -u) -eq 0 ]]; then
  # What the other user needs is copied to where it may go.
  copy=$TEST_TMPDIR/copy
  mkdir "$copy" "$copy/tmp"
  cp -L "$1" "$SUBJECT" "$copy"
  [[ -z ${TEST_CRIU-} || ! -e $TEST_CRIU ]] || cp -R "$(dirname "$TEST_CRIU")" "$copy/criu"
  [[ -z ${TEST_CRIU-} ]] || export TEST_CRIU=$copy/criu/criu
  set -- "$copy/$(basename "$1")"
  report=${XML_OUTPUT_FILE-}
  export SUBJECT=$copy/subject TEST_TMPDIR=$copy/tmp XML_OUTPUT_FILE=$copy/tmp/report.xml
  unset TEST_PREMATURE_EXIT_FILE
  chown -R 64321:64321 "$copy"
  cd "$copy"  # criu must be able to name the directory that its subject is in
  own=(setpriv --reuid=64321 --regid=64321 --clear-groups "${own[@]}")
fi
if ! why=$("${own[@]}" true 2>&1); then
  echo "skipped: this user cannot make namespaces ($why)"
  exit 0
fi
status=0
"${own[@]}" "$1" --gtest_filter="*criu*:RealCriu*" || status=$?
[[ -z ${report-} ]] || cp "$XML_OUTPUT_FILE" "$report"
exit "$status"
