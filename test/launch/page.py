# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of profile pages share: a browser without a window, and the tables of what it has made of a page."""

import html.parser
import shutil
import subprocess

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")
BROWSER_LIMIT_S = 120


def why_not(folder):
    """Why there is no browser that opens an empty page, or nothing."""
    if BROWSER is None:
        return "there is no chromium (third_party/install test)"
    blank = browse("about:blank", folder)
    return "" if blank.returncode == 0 else "chromium does not work here: " + blank.stderr[-500:]


class Page(html.parser.HTMLParser):
    """The tables of a page by their ids, as lists of rows of texts, and its data."""

    def __init__(self, text):
        super().__init__()
        self.tables, self.data, self.tags = {}, "", set()
        self._rows = self._cell = None
        self._in_data = False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.tags.add(tag)
        if tag == "table":
            self._rows = self.tables[attributes.get("id")] = []
        elif tag == "tr":
            self._rows.append([])
        elif tag in ("td", "th"):
            self._rows[-1].append("")
            self._cell = self._rows[-1]
        elif tag == "script":
            self._in_data = attributes.get("id") == "data"

    def handle_endtag(self, tag):
        if tag in ("td", "th"):
            self._cell = None
        self._in_data = False

    def handle_data(self, data):
        if self._in_data:
            self.data += data
        elif self._cell is not None:
            self._cell[-1] += data

    def rows(self, table):
        """The rows of a table, each a dictionary by the titles of the columns."""
        head, *rows = self.tables[table]
        return [dict(zip(head, row)) for row in rows]


def browse(address, folder):
    """What the browser makes of a page. It is started again if it ends badly, which is not ours."""
    for attempt in range(3):
        # Root needs --no-sandbox, and a container may have a small /dev/shm.
        done = subprocess.run(
            [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             "--no-first-run", "--disable-background-networking",
             "--user-data-dir=%s/browser%d" % (folder, attempt), "--dump-dom", address],
            check=False, capture_output=True, text=True, timeout=BROWSER_LIMIT_S, stdin=subprocess.DEVNULL)
        if done.returncode == 0 and done.stdout:
            break
    return done
