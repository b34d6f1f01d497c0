# SPDX-License-Identifier: BSD-3-Clause
"""The test of a program that is not ours, which its script fetches, builds and runs."""

def app_test(name, size, files = [], tags = []):
    """Makes the test NAME of NAME.sh, which gets what all such scripts need, then the prefix.

    Args:
      name: the test's name.
      size: Bazel's; large where a busy machine takes minutes to compile the program.
      files: files of the folder that the script gets in front of the prefix.
      tags: further tags, such as "full".
    """
    shared = [
        "//test:cases.sh",
        "//test/apps:third_party.sh",
        "//test/apps:fetch",
    ]
    native.sh_test(
        name = name,
        size = size,
        srcs = [name + ".sh"],
        args = ["$(rootpath %s)" % file for file in shared + files + ["//:prefix"]],
        data = shared + files + ["//:prefix"],
        tags = [
            "cpu:2",
            "external",
        ] + tags,
    )
