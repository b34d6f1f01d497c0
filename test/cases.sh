# SPDX-License-Identifier: BSD-3-Clause
# For shell tests: counts cases and tells bazel about each of them. Source it.
#
#   begin NAME; ...; pass | fail WHY | skip WHY
#   conclude                     # writes the report; the exit status says whether a case failed
cases_xml='' cases_failed=0 cases_name=''

begin() { cases_name=$1; printf -- '--- %s\n' "$1"; }

cases_record() {
  printf '%s: %s%s\n' "$1" "$cases_name" "${3:+ ($3)}"
  # Quoted, because bash takes a bare & in a replacement for the match.
  local why=${3-} and='&amp;' less='&lt;' quote='&quot;'
  why=${why//&/"$and"}
  why=${why//</"$less"}
  why=${why//'"'/"$quote"}
  cases_xml+="<testcase classname=\"${0##*/}\" name=\"$cases_name\" $2"
  if [[ $1 == failed ]]; then
    cases_failed=$((cases_failed + 1))
    cases_xml+="><failure message=\"$why\"/></testcase>"
  else
    cases_xml+="/>"
  fi
}
pass() { cases_record passed 'status="run"'; }
fail() { cases_record failed 'status="run"' "$1"; }
skip() { cases_record skipped 'status="notrun" result="skipped"' "$1"; }

conclude() {
  [[ -z ${XML_OUTPUT_FILE-} ]] ||
    printf '<testsuites><testsuite name="%s">%s</testsuite></testsuites>\n' \
      "${0##*/}" "$cases_xml" > "$XML_OUTPUT_FILE"
  [[ $cases_failed -eq 0 ]]
}
