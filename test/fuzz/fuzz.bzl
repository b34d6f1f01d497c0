# SPDX-License-Identifier: BSD-3-Clause
"""Makes fuzz tests of the targets in this folder."""

def fuzz_targets(targets):
    """Makes of each target the library NAME, for the replay, and the test NAME_fuzz.

    NAME_fuzz needs Clang's libFuzzer, so nothing but its name, or :minutes, makes Bazel build it.

    Args:
      targets: the source files, each with what it depends on. NAME.cc has the corpus corpus/NAME
        and may have the dictionary NAME.dict.

    Returns:
      the names.
    """
    names = [source[:-len(".cc")] for source in targets]
    for name in names:
        deps = targets[name + ".cc"] + [":input", "//runtime/base"]

        # All are linked into one program, so each needs a name of its own.
        native.cc_library(
            name = name,
            testonly = True,
            srcs = [name + ".cc"],
            local_defines = ["LLVMFuzzerTestOneInput=Fuzz_" + name],
            deps = deps,
        )
        native.cc_binary(
            name = name + "_fuzzer",
            testonly = True,
            srcs = [name + ".cc"],
            linkopts = ["-fsanitize=fuzzer"],
            tags = ["manual"],
            deps = deps,
        )
        data = native.glob(["corpus/%s/*" % name], allow_empty = False)
        dictionary = native.glob([name + ".dict"])
        native.sh_test(
            name = name + "_fuzz",
            size = "large",
            srcs = ["fuzz_test.sh"],
            args = [
                "$(rootpath //test:cases.sh)",
                "$(rootpath %s_fuzzer)" % name,
                native.package_name() + "/corpus/" + name,
            ] + ["$(rootpath %s)" % file for file in dictionary],
            data = data + dictionary + [
                name + "_fuzzer",
                "//test:cases.sh",
            ],
            tags = [
                "fuzz",
                "manual",
            ],
        )
    return names
