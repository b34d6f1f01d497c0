# SPDX-License-Identifier: BSD-3-Clause
"""The libraries for static linking.

static_mpi_library(name, deps, keep) makes an archive NAME of one object: what is linked into the shared
library is linked into that object too, with the C++ runtime, and only symbols that match `keep` can be seen
from outside. Nothing is compiled a second time.
"""

load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain")

def _implementation(ctx):
    toolchain = find_cpp_toolchain(ctx)
    objects = list(ctx.files.objects)
    for dep in ctx.attr.deps:
        for linked in dep[CcInfo].linking_context.linker_inputs.to_list():
            for library in linked.libraries:
                objects += library.pic_objects or library.objects
    archive = ctx.actions.declare_file(ctx.label.name)
    words = ctx.actions.args()
    words.add(archive)
    words.add(toolchain.compiler_executable)
    words.add(" ".join([word for word in ctx.fragments.cpp.linkopts if word.startswith("-flto")]))
    words.add(" ".join(ctx.attr.keep))
    words.add(" ".join(ctx.attr.weaken))
    words.add_all(objects, uniquify = True)  # deps may share some
    ctx.actions.run(
        executable = ctx.executable._archive,
        arguments = [words],
        inputs = objects,
        tools = toolchain.all_files,
        outputs = [archive],
        mnemonic = "StaticLibrary",
        progress_message = "Archiving %s" % archive.short_path,
        use_default_shell_env = True,
    )
    return [DefaultInfo(files = depset([archive]), runfiles = ctx.runfiles([archive]))]

static_mpi_library = rule(
    implementation = _implementation,
    attrs = {
        "deps": attr.label_list(providers = [CcInfo]),
        "objects": attr.label_list(allow_files = [".o"]),
        "keep": attr.string_list(mandatory = True),
        "weaken": attr.string_list(),
        "_archive": attr.label(default = "//runtime/link:archive", executable = True, cfg = "host"),
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
    },
    fragments = ["cpp"],
    toolchains = ["@bazel_tools//tools/cpp:toolchain_type"],
)
