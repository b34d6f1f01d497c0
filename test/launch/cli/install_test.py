#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Goal:   strangers can build and run with an installation, wherever it was moved to.
Method: install.sh lays out a prefix, which is then moved to a path with a blank in it; programs are
        built with mpicc, mpicxx, pkg-config and CMake's own FindMPI and run by its mpiexec. What
        the wrappers print is what they do: the printed command is run too.
"""

import os
import shlex
import shutil
import subprocess
import sys
import unittest

SCRATCH = os.environ["TEST_TMPDIR"]
PREFIX = os.path.join(SCRATCH, "a moved prefix")
SOURCES = os.path.abspath("test/launch/cli")
TIME_LIMIT_S = 120


def variables(extra=None):
    kept = {
        name: value for name, value in os.environ.items()
        if name not in ("CC", "CXX", "FC") and not name.startswith(("PMIX_", "LAMINA_", "MPI", "LD_"))
    }
    kept["PATH"] = "/usr/local/bin:/usr/bin:/bin"
    kept["HOME"] = SCRATCH
    kept.update(extra or {})
    return kept


def run(*words, extra=None, cwd=SCRATCH):
    return subprocess.run(words, check=False, capture_output=True, text=True, cwd=cwd,
                          env=variables(extra), timeout=TIME_LIMIT_S)


def tool(name):
    return os.path.join(PREFIX, "bin", name)


def setUpModule():
    first = os.path.join(SCRATCH, "first")
    for _ in range(2):  # a second time over the first
        result = subprocess.run(["launcher/install.sh", *PAIRS, first], check=False,
                                capture_output=True, text=True, timeout=TIME_LIMIT_S)
        assert result.returncode == 0, result.stderr
    os.rename(first, PREFIX)


class Installation(unittest.TestCase):

    def good(self, *words, **more):
        result = run(*words, **more)
        self.assertEqual(result.returncode, 0, "%s: %s" % (words, result.stderr))
        return result.stdout

    def builds_and_runs(self, program):
        self.assertEqual(self.good(tool("mpiexec"), "-n", "3", program), "3 ranks counted\n")

    def test_layout(self):
        for name in ("bin/mpiexec", "bin/mpirun", "bin/lamina", "bin/mpicc", "bin/mpicxx",
                     "bin/mpic++", "bin/mpicc_abi", "bin/mpicxx_abi", "bin/mpifort",
                     "bin/mpif77", "bin/mpif90", "bin/mpifort_abi", "include/mpi.h", "include/mpif.h",
                     "include/mpi.mod", "include/mpi_f08.mod", "lib/libmpifort_abi.so.1",
                     "lib/libmpifort_abi.so", "lib/libmpifort.so", "lib/pkgconfig/mpifort.pc",
                     "lib/libmpi_abi.so.1", "lib/libmpi_abi.so.0", "lib/libmpi_abi.so",
                     "lib/libmpi.so", "lib/libmpi_abi.a", "lib/libmpi.a",
                     "lib/libmpifort_abi.a", "lib/libmpifort.a", "lib/pkgconfig/mpi.pc", "share/man/man1/mpiexec.1",
                     "share/man/man1/mpicc.1", "share/man/man3/MPI_Send.3", "share/bash-completion/completions/mpiexec"):
            self.assertTrue(os.path.exists(os.path.join(PREFIX, name)), name)
        # Nothing absolute: links would point into the old place.
        for folder, _, files in os.walk(PREFIX):
            for name in files:
                path = os.path.join(folder, name)
                if os.path.islink(path):
                    self.assertFalse(os.path.isabs(os.readlink(path)), path)

    def test_usage(self):
        script = os.path.abspath("launcher/install.sh")
        for words in ([], ["relative/prefix"]):
            result = run(script, *words)
            self.assertEqual(result.returncode, 2)
            self.assertIn("usage: bazel run", result.stderr)

    def test_mpicc(self):
        program = os.path.join(SCRATCH, "ring")
        self.good(tool("mpicc"), "-O1", "-o", program, os.path.join(SOURCES, "ring.c"))
        self.builds_and_runs(program)
        needed = self.good("readelf", "-d", program)
        self.assertIn("[libmpi_abi.so.1]", needed)
        self.assertIn("RUNPATH", needed)

    def test_compile_and_link_apart(self):
        object_file = os.path.join(SCRATCH, "ring.o")
        program = os.path.join(SCRATCH, "ring_apart")
        self.good(tool("mpicc_abi"), "-c", os.path.join(SOURCES, "ring.c"), "-o", object_file)
        self.good(tool("mpicc_abi"), object_file, "-o", program)
        self.builds_and_runs(program)

    def test_mpicxx(self):
        for name in ("mpicxx", "mpic++", "mpiCC", "mpicxx_abi"):
            program = os.path.join(SCRATCH, "version." + name)
            self.good(tool(name), "-o", program, os.path.join(SOURCES, "version.cc"))
            self.assertRegex(self.good(program), r"^MPI \d\.\d\n$")

    def test_mpifort(self):
        program = os.path.join(SCRATCH, "ring_fortran")
        for name in ("mpifort", "mpif90", "mpifort_abi"):
            self.good(tool(name), "-O1", "-o", program, os.path.join(SOURCES, "ring.f90"))
            self.builds_and_runs(program)
        needed = self.good("readelf", "-d", program)
        self.assertIn("[libmpifort_abi.so.1]", needed)
        self.assertIn("RUNPATH", needed)
        self.good(tool("mpif77"), "-o", program, os.path.join(SOURCES, "version.f"))
        self.assertRegex(self.good(program), r"^MPI \d\.\d\n$")
        shown = self.good(tool("mpifort"), "-show", "x.o", extra={"FC": "my-fortran"})
        self.assertTrue(shown.startswith("my-fortran "), shown)
        shown = self.good(tool("mpifort"), "-show", "x.o", extra={"FC": "mpif90"})
        self.assertTrue(shown.startswith("gfortran "), shown)
        self.assertEqual(self.good(tool("mpifort"), "-showme:libs"), "mpifort mpi\n")

    def test_static_mpi(self):
        program = os.path.join(SCRATCH, "ring_static")
        self.good(tool("mpicc"), "-static-mpi", "-o", program, os.path.join(SOURCES, "ring.c"))
        self.builds_and_runs(program)
        self.needs_no_mpi(program)
        self.assertNotIn("stdc++", self.good("readelf", "-d", program))
        self.good(tool("mpifort_abi"), "-static_mpi", "-o", program,
                  os.path.join(SOURCES, "ring.f90"))
        self.builds_and_runs(program)
        self.needs_no_mpi(program)
        shown = self.good(tool("mpicc"), "-static-mpi", "-showme:link")
        self.assertTrue(shown.endswith(" -l:libmpi.a -lm\n"), shown)

    def test_a_program_of_messages_alone(self):
        # It names no function of MPI. The linker must take the library all the same.
        source, program = os.path.join(SCRATCH, "alone.c"), os.path.join(SCRATCH, "alone")
        with open(source, "w", encoding="utf-8") as file:
            file.write("#include <lamina/sr.h>\n"
                       "int main(void) {\n"
                       "  lamina_sr_config config = {0};\n"
                       "  return lamina_sr_init(&config) || config.nodes != 2 ? 1 : (lamina_sr_exit(0), 1);\n"
                       "}\n")
        for words in ([], ["-static-mpi"]):
            self.good(tool("mpicc"), *words, "-o", program, source)
            self.good(tool("mpiexec"), "-n", "2", program)

    def needs_no_mpi(self, program):
        self.assertNotIn("libmpi", self.good("readelf", "-d", program))

    def test_static_mpi_in_cxx(self):
        # With the C++ runtime of its own beside the one that is in the archive.
        program = os.path.join(SCRATCH, "heat2d_static")
        heat2d = os.path.abspath("test/apps/heat2d")
        self.good(tool("mpicxx"), "-static-mpi", "-std=c++20", "-I" + os.getcwd(), "-o", program,
                  *[os.path.join(heat2d, name) for name in ("heat2d.cc", "options.cc", "picture.cc")])
        self.needs_no_mpi(program)
        self.assertIn("stdc++", self.good("readelf", "-d", program))
        checksums = [
            [line for line in self.good(
                tool("mpiexec"), "-n", ranks, program, "--input",
                os.path.join(heat2d, "lamina.pgm"), "--steps", "20", "--output",
                os.path.join(SCRATCH, "heat")).splitlines() if "checksum" in line]
            for ranks in ("1", "4")]
        self.assertTrue(checksums[0])
        self.assertEqual(checksums[0], checksums[1])

    def test_all_static(self):
        program = os.path.join(SCRATCH, "ring_all_static")
        self.good(tool("mpicc"), "-static", "-o", program, os.path.join(SOURCES, "ring.c"))
        self.assertEqual(self.good(program), "1 ranks counted\n")
        self.assertEqual(self.good(tool("mpiexec"), "-n", "3", program), "3 ranks counted\n")
        # Where libpmix would have to be opened. Of several ranks, each might say it.
        result = run(tool("mpiexec"), "--param", "launcher.pmix.roster=no", "-n", "1", program)
        self.assertNotEqual(result.returncode, 0)
        self.assertEqual(result.stderr.count("mpicc -static-mpi"), 1, result.stderr)

    def test_found_in_path_and_through_links(self):
        elsewhere = os.path.join(SCRATCH, "links")
        os.makedirs(elsewhere, exist_ok=True)
        link = os.path.join(elsewhere, "mpicc")
        if not os.path.lexists(link):
            os.symlink(tool("mpicc"), link)
        shown = self.good("sh", "-c", "mpicc -show", extra={"PATH": elsewhere + ":/usr/bin:/bin"})
        self.assertIn(PREFIX + "/include", shown)

    def test_what_is_shown_is_what_is_done(self):
        program = os.path.join(SCRATCH, "ring shown")
        shown = self.good(tool("mpicc"), "-show", "-o", program, os.path.join(SOURCES, "ring.c"))
        self.assertFalse(os.path.exists(program))
        self.good("sh", "-c", shown)
        self.builds_and_runs(program)

    def test_compile_and_link_info(self):
        object_file = os.path.join(SCRATCH, "info.o")
        program = os.path.join(SCRATCH, "ring_info")
        source = shlex.quote(os.path.join(SOURCES, "ring.c"))
        compile_command = self.good(tool("mpicc"), "-compile_info").strip()
        self.assertNotIn("-lmpi", compile_command)
        self.good("sh", "-c", "%s %s -o %s" % (compile_command, source, object_file))
        link_command = self.good(tool("mpicc"), "-link_info").strip()
        self.good("sh", "-c", "%s %s -o %s" % (link_command.replace(" -l", " info.o -l"), "",
                                               program))
        self.builds_and_runs(program)

    def test_shown_flags_alone(self):
        self.assertEqual(self.good(tool("mpicc"), "-showme:incdirs"), '"%s/include"\n' % PREFIX)
        self.assertEqual(self.good(tool("mpicc"), "-showme:libs"), "mpi\n")
        self.assertEqual(self.good(tool("mpicc_abi"), "-showme:libs"), "mpi_abi\n")
        self.assertNotIn("cc ", self.good(tool("mpicc"), "-showme:link"))

    def test_questions_with_one_dash_or_two(self):
        for name in ("mpicc", "mpicxx", "mpifort"):
            for question in ("show", "showme", "showme:compile", "showme:link", "showme:incdirs",
                             "showme:libdirs", "showme:libs", "showme:command", "showme:version",
                             "compile_info", "compile-info", "link_info", "link-info",
                             "show-compile-info", "show-link-info"):
                answers = [self.good(tool(name), dashes + question) for dashes in ("-", "--")]
                self.assertEqual(*answers)
                self.assertEqual(answers[0].count("\n"), 1, question)
        for question, same in (("-show-compile-info", "-showme:compile"),
                               ("-show-link-info", "-showme:link"), ("-showme", "-show")):
            self.assertEqual(self.good(tool("mpicc"), question), self.good(tool("mpicc"), same))
        result = run(tool("mpicc"), "-showme:colour")
        self.assertEqual(result.returncode, 1)
        self.assertIn("-showme:colour asks what I do not know; I know compile, link,", result.stderr)

    def test_the_library_of_another_mpi_is_not_taken(self):
        # As with -L/usr/lib/x86_64-linux-gnu, where another MPI has its own libmpi.so.
        decoy = os.path.join(SCRATCH, "decoy")
        os.makedirs(decoy, exist_ok=True)
        empty = os.path.join(decoy, "empty.c")
        with open(empty, "w", encoding="utf-8") as file:
            file.write("int decoy;\n")
        for name in ("mpi", "mpifort"):
            self.good("cc", "-shared", "-fPIC", "-Wl,-soname,libdecoy.so", empty, "-o",
                      os.path.join(decoy, "lib%s.so" % name))
            self.good("cc", "-c", empty, "-o", os.path.join(decoy, "empty.o"))
            self.good("ar", "rcs", os.path.join(decoy, "lib%s.a" % name),
                      os.path.join(decoy, "empty.o"))
        program = os.path.join(SCRATCH, "ring_not_decoy")
        pkg = shlex.split(self.good(
            "pkg-config", "--cflags", "--libs", "mpi",
            extra={"PKG_CONFIG_PATH": os.path.join(PREFIX, "lib/pkgconfig")}))
        ring = os.path.join(SOURCES, "ring.c")
        for words in ([tool("mpicc"), ring, "-L" + decoy], [tool("mpicc"), "-L", decoy, ring],
                      [tool("mpicxx"), "-x", "c++", os.path.join(SOURCES, "version.cc"), "-L" + decoy],
                      [tool("mpifort"), "-L" + decoy, os.path.join(SOURCES, "ring.f90")],
                      [tool("mpicc"), "-static-mpi", ring, "-L" + decoy],
                      [tool("mpicc_abi"), ring, "-L" + decoy],
                      ["cc", ring, "-L" + decoy, *pkg]):
            self.good(*words, "-o", program)
            self.assertNotIn("libdecoy", self.good("readelf", "-d", program))
        shown = self.good(tool("mpicc"), "-show", "ring.c", "-L" + decoy)
        self.assertLess(shown.index("-L\"%s/lib\"" % PREFIX), shown.index("-L" + decoy))

    def test_the_compiler_can_be_chosen(self):
        for name, variable in (("mpicc", "CC"), ("mpicxx", "CXX"), ("mpicc", "LAMINA_CC"),
                               ("mpicxx", "LAMINA_CXX")):
            shown = self.good(tool(name), "-show", "x.o", extra={variable: "my-compiler -m64"})
            self.assertTrue(shown.startswith("my-compiler -m64 "), shown)
        self.assertTrue(self.good(tool("mpicc"), "-cc=tcc", "-show").startswith("tcc "))
        both = {"CC": "one", "LAMINA_CC": "two"}
        self.assertTrue(self.good(tool("mpicc"), "-show", extra=both).startswith("two "))

    def test_the_wrapper_never_wraps_itself(self):
        for compiler in ("mpicc", tool("mpicc"), "ccache mpicc"):
            shown = self.good(tool("mpicc"), "-show", extra={"CC": compiler})
            self.assertTrue(shown.startswith("cc "), shown)

    def test_questions_to_the_compiler_do_not_link(self):
        self.good(tool("mpicc"), "--version")
        self.good(tool("mpicc"), "-v")
        self.good(tool("mpicc"), "-E", os.path.join(SOURCES, "ring.c"))

    def test_odd_arguments_arrive_whole(self):
        program = os.path.join(SCRATCH, "odd name")
        self.good(tool("mpicc"), '-DTEXT="a  b\'c"', "-o", program,
                  os.path.join(SOURCES, "ring.c"))
        self.builds_and_runs(program)

    @unittest.skipUnless(shutil.which("pkg-config"), "pkg-config is not installed")
    def test_pkg_config(self):
        extra = {"PKG_CONFIG_PATH": os.path.join(PREFIX, "lib/pkgconfig")}
        flags = shlex.split(self.good("pkg-config", "--cflags", "--libs", "mpi", extra=extra))
        program = os.path.join(SCRATCH, "ring_pkg")
        self.good("cc", os.path.join(SOURCES, "ring.c"), "-o", program, *flags)
        run_it = [tool("mpiexec"), "-n", "2", "-x",
                  "LD_LIBRARY_PATH=" + os.path.join(PREFIX, "lib"), program]
        self.assertEqual(self.good(*run_it), "2 ranks counted\n")
        flags = shlex.split(self.good("pkg-config", "--cflags", "--libs", "mpifort", extra=extra))
        self.good("gfortran", os.path.join(SOURCES, "ring.f90"), "-o", program, *flags)
        self.assertEqual(self.good(*run_it), "2 ranks counted\n")
        flags = self.good("pkg-config", "--static", "--libs", "mpifort", extra=extra).strip()
        flags = shlex.split(flags.replace("-lmpi", "-Wl,-Bstatic -lmpi"))
        self.good("gfortran", "-I" + os.path.join(PREFIX, "include"),
                  os.path.join(SOURCES, "ring.f90"), "-o", program, *flags, "-Wl,-Bdynamic")
        self.builds_and_runs(program)
        self.needs_no_mpi(program)

    @unittest.skipUnless(shutil.which("cmake"), "cmake is not installed")
    def test_cmake_finds_mpi(self):
        project = os.path.join(SCRATCH, "project")
        os.makedirs(project, exist_ok=True)
        for name in ("ring.c", "ring.f90", "version.cc", "version.f"):
            shutil.copy(os.path.join(SOURCES, name), project)
        with open(os.path.join(project, "CMakeLists.txt"), "w", encoding="utf-8") as file:
            file.write("cmake_minimum_required(VERSION 3.16)\n"
                       "project(stranger C CXX Fortran)\n"
                       "find_package(MPI REQUIRED COMPONENTS C CXX Fortran)\n"
                       "message(STATUS \"Fortran ${MPI_Fortran_HAVE_F77_HEADER} \"\n"
                       "        \"${MPI_Fortran_HAVE_F90_MODULE} ${MPI_Fortran_HAVE_F08_MODULE}\")\n"
                       "add_executable(ring_fortran ring.f90)\n"
                       "target_link_libraries(ring_fortran MPI::MPI_Fortran)\n"
                       "add_executable(version_fortran version.f)\n"
                       "target_link_libraries(version_fortran MPI::MPI_Fortran)\n"
                       "message(STATUS \"version ${MPI_C_VERSION} run ${MPIEXEC_EXECUTABLE}\")\n"
                       "add_executable(ring ring.c)\n"
                       "target_link_libraries(ring MPI::MPI_C)\n"
                       "add_executable(version version.cc)\n"
                       "target_link_libraries(version MPI::MPI_CXX)\n")
        for how, extra, words in (
                ("path", {"PATH": os.path.join(PREFIX, "bin") + ":/usr/bin:/bin"}, []),
                ("home", {}, ["-DMPI_HOME=" + PREFIX])):
            build = os.path.join(SCRATCH, "build_" + how)
            text = self.good("cmake", "-S", project, "-B", build, *words, extra=extra)
            self.assertRegex(text, r"version [345]\.\d run " + PREFIX + "/bin/mpiexec")
            self.good("cmake", "--build", build, extra=extra)
            self.assertIn("-- Fortran TRUE TRUE TRUE\n", text)
            self.builds_and_runs(os.path.join(build, "ring"))
            self.builds_and_runs(os.path.join(build, "ring_fortran"))
            self.assertRegex(self.good(os.path.join(build, "version_fortran")), r"^MPI \d\.\d\n$")
            self.assertRegex(self.good(os.path.join(build, "version")), r"^MPI \d\.\d\n$")

    def meson_words(self):
        """A project of three languages, and what Meson needs to find this MPI and no other."""
        project = os.path.join(SCRATCH, "meson")
        os.makedirs(project, exist_ok=True)
        for name in ("ring.c", "ring.f90", "version.cc"):
            shutil.copy(os.path.join(SOURCES, name), project)
        with open(os.path.join(project, "meson.build"), "w", encoding="utf-8") as file:
            file.write("project('stranger', 'c', 'cpp', 'fortran')\n"
                       "executable('ring', 'ring.c', dependencies: dependency('mpi', language: 'c'))\n"
                       "executable('version', 'version.cc',\n"
                       "           dependencies: dependency('mpi', language: 'cpp'))\n"
                       "executable('ring_fortran', 'ring.f90',\n"
                       "           dependencies: dependency('mpi', language: 'fortran'))\n")
        return project, {"PKG_CONFIG_LIBDIR": "/nonexistent",
                         "PATH": os.path.join(PREFIX, "bin") + ":/usr/bin:/bin"}

    def test_meson_finds_mpi(self):
        project, extra = self.meson_words()
        build = os.path.join(SCRATCH, "build_meson")
        text = self.good("meson", "setup", build, project, extra=extra)
        self.assertEqual(text.count("Run-time dependency MPI for"), 3, text)
        self.assertRegex(text, r"MPI for c found: YES \d+\.\d+\.\d+")
        self.good("ninja", "-C", build, extra=extra)
        for name in ("ring", "ring_fortran"):
            self.builds_and_runs(os.path.join(build, name))
        self.assertRegex(self.good(os.path.join(build, "version")), r"^MPI \d\.\d\n$")

    def test_autoconf_finds_mpi(self):
        project = os.path.join(SCRATCH, "autoconf")
        os.makedirs(project, exist_ok=True)
        shutil.copy(os.path.join(SOURCES, "ring.c"), project)
        with open(os.path.join(project, "configure.ac"), "w", encoding="utf-8") as file:
            file.write("AC_INIT([stranger], [1])\nAC_PROG_CC\nAX_MPI([], [AC_MSG_ERROR([no MPI])])\n"
                       "AC_CONFIG_FILES([Makefile])\nAC_OUTPUT\n")
        with open(os.path.join(project, "Makefile.in"), "w", encoding="utf-8") as file:
            file.write("ring: ring.c\n\t@MPICC@ @CFLAGS@ -o $@ ring.c @MPILIBS@\n")
        extra = {"PATH": os.path.join(PREFIX, "bin") + ":/usr/bin:/bin"}
        self.good("sh", "-c", "aclocal && autoconf && ./configure && make", cwd=project, extra=extra)
        self.builds_and_runs(os.path.join(project, "ring"))

    def test_info_knows_the_installation(self):
        text = self.good(tool("lamina"), "info")
        self.assertIn(PREFIX, text)
        self.assertIn("transport", text)

    def test_parameters_of_the_installation(self):
        os.makedirs(os.path.join(PREFIX, "etc"), exist_ok=True)
        path = os.path.join(PREFIX, "etc", "lamina.conf")
        with open(path, "w", encoding="utf-8") as file:
            file.write("p2p.wait.mode = oversubscribed\n")
        self.addCleanup(os.unlink, path)
        self.assertEqual(self.good(tool("mpiexec"), "-n", "1", "sh", "-c",
                                   "echo $LAMINA_P2P_WAIT_MODE"), "oversubscribed\n")


if __name__ == "__main__":
    PAIRS = sys.argv[1:]
    unittest.main(argv=sys.argv[:1], verbosity=2)
