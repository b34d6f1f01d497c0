# SPDX-License-Identifier: BSD-3-Clause
"""Everything Bazel 4.2.3 needs from outside the tree, taken from Debian packages only.

shim_repository: stands in for rules_cc / rules_java / rules_proto /
    remote_coverage_tools, which Bazel's built-in WORKSPACE suffix would
    otherwise download the first time a cc_* rule is analysed.
system_library:  an installed Debian -dev package as a cc_library.
"""

_RULES = {
    "cc": ["cc_library", "cc_binary", "cc_test", "cc_import", "cc_proto_library", "cc_toolchain", "cc_toolchain_suite", "objc_library"],
    "java": ["java_library", "java_binary", "java_test", "java_import", "java_runtime", "java_toolchain", "java_proto_library"],
    "proto": ["proto_library", "proto_lang_toolchain"],
}

def _shim_impl(ctx):
    kind = ctx.attr.kind
    ctx.file("WORKSPACE", "workspace(name = %r)\n" % ctx.name)
    if kind == "coverage":
        ctx.file("BUILD", "".join([
            "filegroup(name = %r, visibility = ['//visibility:public'])\n" % n
            for n in ["coverage_report_generator", "lcov_merger"]
        ]))
        return
    lines = ["%s = native.%s" % (r, r) for r in _RULES[kind]]
    if kind == "proto":
        lines.append("ProtoInfo = ProtoInfo")
    ctx.file("BUILD", "")
    ctx.file(kind + "/BUILD", "")
    ctx.file(kind + "/defs.bzl", "\n".join(lines) + "\n")

shim_repository = repository_rule(
    implementation = _shim_impl,
    attrs = {"kind": attr.string(mandatory = True, values = ["cc", "java", "proto", "coverage"])},
)

_LIB_BUILD = """package(default_visibility = ["//visibility:public"])
cc_library(
    name = "{name}",
    hdrs = glob(["include/**"]),
    includes = ["include"],
    linkopts = {linkopts},
)
# For code that opens the library at run time.
cc_library(
    name = "headers",
    hdrs = glob(["include/**"]),
    includes = ["include"],
)
"""

def _system_library_impl(ctx):
    for path in ctx.attr.headers:
        if not ctx.path(path).exists:
            fail("%s not found: apt-get install %s" % (path, ctx.attr.deb))
        ctx.symlink(path, "include/" + path.split("/")[-1])
    ctx.file("WORKSPACE", "workspace(name = %r)\n" % ctx.name)
    ctx.file("BUILD", _LIB_BUILD.format(name = ctx.name, linkopts = repr(ctx.attr.linkopts)))

system_library = repository_rule(
    implementation = _system_library_impl,
    local = True,
    attrs = {
        "deb": attr.string(mandatory = True),
        "headers": attr.string_list(mandatory = True),
        "linkopts": attr.string_list(),
    },
)
