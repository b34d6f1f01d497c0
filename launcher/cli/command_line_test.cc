// SPDX-License-Identifier: BSD-3-Clause
// Goal:   the command line means what users of any MPI expect, and every mistake is answered with
//         the word that is wrong and what would be right.
// Method: words in, the invocation or the exact message out; rules that hold for every row of the
//         table.
#include "launcher/cli/command_line.h"

#include <gtest/gtest.h>

#include <map>

#include "launcher/cli/foreign.h"
#include "launcher/cli/options.h"

namespace lamina::launcher {
namespace {

using Words = std::vector<std::string>;

// The files that options may name.
Result<std::string> TextOf(const std::string& path) {
  if (path == "programs") return std::string("# two programs\n-n 1 a 'one word'\n\n-n 2 \\\n  b\n");
  if (path == "options") return std::string("-n 3 -x A=\"b c\"");
  if (path == "itself") return std::string("-file itself");
  if (path == "open") return std::string("-x 'A");
  return Error(Code::kNotFound, "%s: No such file or directory", path.c_str());
}

Invocation Parse(const Words& words) {
  Result<Invocation> line = ParseCommandLine(words, TextOf);
  EXPECT_TRUE(line.ok()) << line.status().message();
  return line.ok() ? *line : Invocation{};
}

std::string ErrorOf(const Words& words) {
  Result<Invocation> line = ParseCommandLine(words, TextOf);
  EXPECT_FALSE(line.ok());
  return std::string(line.status().message());
}

TEST(CommandLine, RanksInEverySpelling) {
  for (const Words& words : {Words{"-n", "4", "a"}, Words{"-np", "4", "a"}, Words{"-c", "4", "a"},
                             Words{"--np", "4", "a"}, Words{"-n4", "a"}, Words{"-np4", "a"},
                             Words{"-np=4", "a"}, Words{"--np=4", "a"}, Words{"--n", "4", "a"}}) {
    Result<Invocation> line = ParseCommandLine(words, TextOf);
    ASSERT_TRUE(line.ok()) << words[0] << ": " << line.status().message();
    EXPECT_EQ(line->request.programs[0].ranks, 4u) << words[0];
    EXPECT_EQ(line->request.programs[0].argv, Words{"a"}) << words[0];
  }
}

TEST(CommandLine, WhatFollowsTheProgramIsItsOwn) {
  const Invocation line = Parse({"-n", "2", "a", "-n", "3", "--help", "-x", "--"});
  EXPECT_EQ(line.request.programs[0].argv, (Words{"a", "-n", "3", "--help", "-x", "--"}));
  EXPECT_EQ(line.action, Invocation::Action::kRun);
}

TEST(CommandLine, DoubleDashEndsOptions) {
  EXPECT_EQ(Parse({"-n", "1", "--", "-prog", "-x"}).request.programs[0].argv,
            (Words{"-prog", "-x"}));
  EXPECT_EQ(ErrorOf({"-n", "1", "--"}),
            "no program given: mpiexec [options] program [arguments]; --help tells more");
}

TEST(CommandLine, SeveralPrograms) {
  const Invocation line = Parse({"--tag-output", "-n", "1", "--wdir", "/tmp", "a", "x", ":", "-n",
                                 "2", "-x", "V=1", "b", ":", "-n", "3", "c"});
  ASSERT_EQ(line.request.programs.size(), 3u);
  EXPECT_EQ(line.request.programs[0].argv, (Words{"a", "x"}));
  EXPECT_EQ(line.request.programs[0].wdir, "/tmp");
  EXPECT_EQ(line.request.programs[1].wdir, "");
  EXPECT_EQ(line.request.programs[1].environment, Words{"V=1"});
  EXPECT_EQ(line.request.programs[2].ranks, 3u);
  EXPECT_TRUE(line.options.tag_output);
}

TEST(CommandLine, ProgramsThatAreMissing) {
  const std::string none =
      "no program given: mpiexec [options] program [arguments]; --help tells more";
  EXPECT_EQ(ErrorOf({}), none);
  EXPECT_EQ(ErrorOf({"-n", "2"}), none);
  EXPECT_EQ(ErrorOf({":"}), none);
  EXPECT_EQ(ErrorOf({":", "a"}), none);
  EXPECT_EQ(ErrorOf({"a", ":"}), "no program given after \":\"");
  EXPECT_EQ(ErrorOf({"a", ":", ":", "b"}), "no program given after \":\"");
  EXPECT_EQ(ErrorOf({"a", ":", "-n", "2"}), "no program given after \":\"");
  EXPECT_EQ(ErrorOf({""}), "the program's name is empty");
}

TEST(CommandLine, NumbersOfRanks) {
  EXPECT_EQ(ErrorOf({"-n", "0", "a"}), "-n 0: a program needs at least 1 rank");
  EXPECT_EQ(ErrorOf({"-n", "-1", "a"}), "-n -1: a program needs at least 1 rank");
  EXPECT_EQ(ErrorOf({"-n", "two", "a"}), "-n two: not a number of ranks");
  EXPECT_EQ(ErrorOf({"-n", "2.5", "a"}), "-n 2.5: not a number of ranks");
  EXPECT_EQ(ErrorOf({"-n", "", "a"}), "-n : not a number of ranks");
  EXPECT_EQ(ErrorOf({"-n", "3000000000", "a"}),
            "-n 3000000000: more ranks than MPI can number (2147483647)");
  EXPECT_EQ(ErrorOf({"-n", "99999999999999999999", "a"}),
            "-n 99999999999999999999: not a number of ranks");
  EXPECT_EQ(ErrorOf({"-n", "2", "-np", "3", "a"}),
            "-np 3: the number of ranks was given before (2)");
  const std::string means_cpus =
      ": the number of ranks was given before (4); -c is that number too, and CPUs for each rank "
      "are --cpus-per-rank";
  EXPECT_EQ(ErrorOf({"-n", "4", "-c", "2", "a"}), "-c 2" + means_cpus);
  EXPECT_EQ(ErrorOf({"-c4", "-n", "2", "a"}), "-n 2" + means_cpus);
  EXPECT_EQ(ErrorOf({"-c", "4", "a", ":", "-n", "2", "-n", "3", "b"}),
            "-n 3: the number of ranks was given before (2)");
  EXPECT_EQ(ErrorOf({"-n", "2147483647", "a", ":", "-n", "1", "b"}),
            "more ranks than MPI can number (2147483647)");
  EXPECT_EQ(ErrorOf({"-n"}), "-n needs a value: -n N");
}

TEST(CommandLine, UnknownOptionsAreAnsweredWithTheNearest) {
  EXPECT_EQ(ErrorOf({"--tag-ouput", "a"}),
            "unknown option --tag-ouput; did you mean --tag-output?");
  EXPECT_EQ(ErrorOf({"--hostfle=x", "a"}), "unknown option --hostfle; did you mean --hostfile?");
  EXPECT_EQ(ErrorOf({"-bindto", "core"}), "unknown option -bindto; did you mean --bind-to?");
  EXPECT_EQ(ErrorOf({"--qqqqqqqqqq", "a"}), "unknown option --qqqqqqqqqq; --help lists them");
  for (const char* letter : {"-y", "-z", "-a", "--m", "-j"})
    EXPECT_EQ(ErrorOf({letter, "a"}),
              std::string("unknown option ") + letter + "; --help lists them");
  EXPECT_EQ(ErrorOf({"--nooversubscrib", "a"}),
            "unknown option --nooversubscrib; did you mean --nooversubscribe?");
  EXPECT_EQ(ErrorOf({"--oversubscrib", "a"}),
            "unknown option --oversubscrib; did you mean --oversubscribe?");
  EXPECT_EQ(ErrorOf({"--notag-output", "a"}), "unknown option --notag-output; --help lists them");
  EXPECT_EQ(ErrorOf({"--output", "tag", "a"}),
            "--output tag: use --tag-output; a directory of this name is ./tag");
  EXPECT_EQ(ErrorOf({"--output", "dir=logs", "a"}),
            "--output dir=logs: name the directory alone; one of this name is ./dir=logs");
  EXPECT_EQ(ErrorOf({"--output=out.%t", "a"}),
            "--output out.%t: this is a directory; for files use --outfile-pattern, where %r is "
            "the rank");
  EXPECT_EQ(ErrorOf({"---np", "2", "a"}), "unknown option ---np; did you mean --np?");
  EXPECT_NE(ErrorOf({"--mca", "btl", "tcp", "a"}).find("--param NAME=VALUE"), std::string::npos);
}

TEST(CommandLine, HostsAndFiles) {
  const Invocation line = Parse({"-H", "a:2,b", "-H", "c", "--hostfile", "hosts", "prog"});
  EXPECT_EQ(line.request.programs[0].hosts.size(), 3u);
  EXPECT_EQ(line.host_file_path, "hosts");
  EXPECT_EQ(Parse({"-machinefile", "m", "a"}).host_file_path, "m");
  EXPECT_EQ(Parse({"-f", "m", "a"}).host_file_path, "m");
  EXPECT_EQ(ErrorOf({"--host", "a,,b", "p"}), "--host a,,b: \"\" is not a host name");
  EXPECT_EQ(ErrorOf({"-f", "x", "-f", "y", "p"}), "-f y: a host file was given before (x)");
}

TEST(CommandLine, Choices) {
  EXPECT_EQ(Parse({"--map-by", "numa", "a"}).request.mapping.map_by, MapBy::kNuma);
  EXPECT_EQ(Parse({"-map-by=node", "a"}).request.mapping.map_by, MapBy::kNode);
  EXPECT_EQ(Parse({"--bind-to", "hwthread", "a"}).request.mapping.bind_to, BindTo::kHwthread);
  EXPECT_EQ(ErrorOf({"--bind-to", "cor", "a"}),
            "--bind-to cor: did you mean \"core\"? One of: none, core, socket, numa, l3cache, "
            "hwthread, package, default");
  EXPECT_EQ(ErrorOf({"--map-by", "nmua", "a"}),
            "--map-by nmua: did you mean \"numa\"? One of: slot, node, numa, socket, core, "
            "hwthread, l3cache, seq, host, package");
}

TEST(CommandLine, Mapping) {
  const auto mapping = [](const Words& words) { return Parse(words).request.mapping; };
  EXPECT_EQ(mapping({"--map-by", "ppr:2:l3cache", "a"}).map_by, MapBy::kL3cache);
  EXPECT_EQ(mapping({"--map-by", "ppr:2:l3cache", "a"}).ranks_per_object, 2u);
  EXPECT_EQ(mapping({"--map-by", "numa:PE=4", "a"}).cpus_per_rank, 4u);
  EXPECT_EQ(mapping({"--map-by", "ppr:1:node:pe=3", "a"}).cpus_per_rank, 3u);
  EXPECT_TRUE(Parse({"--map-by", "slot:OVERSUBSCRIBE", "a"}).request.oversubscribe);
  EXPECT_EQ(mapping({"--cpus-per-rank", "8", "a"}).cpus_per_rank, 8u);
  EXPECT_EQ(mapping({"--rank-by", "node", "a"}).rank_by, MapBy::kNode);
  EXPECT_EQ(mapping({"--rank-by", "fill", "a"}).rank_by, MapBy::kSlot);
  EXPECT_FALSE(mapping({"a"}).rank_by.has_value());
  EXPECT_EQ(mapping({"--map-by", "seq", "a"}).map_by, MapBy::kSeq);
  for (const Words& words :
       {Words{"--map-by", "rankfile=r", "a"}, Words{"--map-by", "rankfile:file=r", "a"},
        Words{"--rankfile", "r", "a"}, Words{"-rf", "r", "a"}}) {
    EXPECT_EQ(mapping(words).map_by, MapBy::kRankfile);
    EXPECT_EQ(Parse(words).rank_file_path, "r");
  }
  const std::string per_object = ": expected ppr:N:OBJECT, N ranks for each OBJECT of a host";
  EXPECT_EQ(ErrorOf({"--map-by", "ppr:2", "a"}), "--map-by ppr:2" + per_object);
  EXPECT_EQ(ErrorOf({"--map-by", "ppr:0:numa", "a"}), "--map-by ppr:0:numa" + per_object);
  EXPECT_EQ(ErrorOf({"--map-by", "core:pe=0", "a"}),
            "--map-by core:pe=0: not a number of CPUs for each rank (1 to 1048576)");
  EXPECT_EQ(ErrorOf({"--map-by", "core:span", "a"}),
            "--map-by core:span: \"span\" is none of pe=N, oversubscribe, nooversubscribe, "
            "hwtcpus");
  EXPECT_EQ(ErrorOf({"-rf", "a", "-rf", "b", "p"}), "-rf b: a rank file was given before (a)");
}

TEST(CommandLine, Times) {
  EXPECT_EQ(Parse({"--timeout", "10", "a"}).options.timeout_ms, 10000u);
  EXPECT_EQ(Parse({"--timeout", "0.0004", "a"}).options.timeout_ms, 1u);
  EXPECT_EQ(Parse({"-timeout=1.5", "a"}).options.timeout_ms, 1500u);
  for (const char* wrong : {"-1", "x", "", "nan", "inf", "1e99", "5s"})
    EXPECT_NE(ErrorOf({"--timeout", wrong, "a"}).find("not a number of seconds"), std::string::npos)
        << wrong;
  EXPECT_EQ(Parse({"--hang-after", "60", "a"}).options.hang_ms, 60'000u);
  EXPECT_FALSE(Parse({"--hang-after", "60", "a"}).options.hang_ends);
  EXPECT_EQ(Parse({"--hang-after=0.5:end", "a"}).options.hang_ms, 500u);
  EXPECT_TRUE(Parse({"--hang-after=0.5:end", "a"}).options.hang_ends);
  for (const char* wrong : {":end", "60:", "60:stop", "60:end:end", "60,end"})
    EXPECT_NE(ErrorOf({"--hang-after", wrong, "a"}).find("not a number of seconds"),
              std::string::npos)
        << wrong;
}

TEST(CommandLine, StandardInput) {
  EXPECT_EQ(Parse({"a"}).options.stdin_to, StdinTo::kRank);
  EXPECT_EQ(Parse({"--stdin", "all", "a"}).options.stdin_to, StdinTo::kAll);
  EXPECT_EQ(Parse({"--stdin", "none", "a"}).options.stdin_to, StdinTo::kNone);
  EXPECT_EQ(Parse({"--stdin", "3", "a"}).options.stdin_rank, 3u);
  EXPECT_EQ(ErrorOf({"--stdin", "-1", "a"}), "--stdin -1: not a rank, \"all\" or \"none\"");
}

TEST(CommandLine, Variables) {
  EXPECT_EQ(Parse({"-x", "A=b=c", "-x", "D", "a"}).request.programs[0].environment,
            (Words{"A=b=c", "D"}));
  // MPICH writes name and value as two words.
  EXPECT_EQ(Parse({"-env", "A", "b", "p"}).request.programs[0].environment, Words{"A=b"});
  EXPECT_EQ(Parse({"-genv", "A", "b", "p"}).job_environment, Words{"A=b"});
  EXPECT_EQ(Parse({"-genv", "A=b", "p"}).job_environment, Words{"A=b"});
  EXPECT_EQ(Parse({"--env", "A=b", "p"}).request.programs[0].environment, Words{"A=b"});
  // A variable that is not set here is warned about with the option that named it.
  using NamedBy = std::map<std::string, std::string>;
  EXPECT_EQ(Parse({"--env=A", "-envlist", "B,C", "-genvlist", "D", "-x", "E=f", "p"}).named_by,
            (NamedBy{{"A", "--env"}, {"B", "-envlist"}, {"C", "-envlist"}, {"D", "-genvlist"}}));
  EXPECT_EQ(ErrorOf({"-x", "=v", "a"}), "-x =v: not NAME or NAME=value");
  EXPECT_EQ(ErrorOf({"-genv", "A"}), "-genv needs two values: -genv NAME VALUE");
}

TEST(CommandLine, HelpAndVersion) {
  EXPECT_EQ(Parse({"--help"}).action, Invocation::Action::kHelp);
  EXPECT_EQ(Parse({"--help", "binding"}).topic, "binding");
  EXPECT_EQ(Parse({"--help=binding"}).topic, "binding");
  EXPECT_EQ(Parse({"-n", "2", "-h"}).action, Invocation::Action::kHelp);
  EXPECT_EQ(Parse({"--version"}).action, Invocation::Action::kVersion);
  EXPECT_EQ(Parse({"-V", "--nonsense"}).action, Invocation::Action::kVersion);
}

TEST(CommandLine, Rest) {
  const Invocation line = Parse({"-v", "-v", "--display", "plan,env", "--dry-run",
                                 "--oversubscribe", "--param", "a.b.c=1", "--param=d.e.f=2",
                                 "--output", "dir", "--timestamp-output", "-ppn", "3", "prog"});
  EXPECT_EQ(line.options.verbosity, 2u);
  EXPECT_TRUE(line.display.plan);
  EXPECT_TRUE(line.display.environment);
  EXPECT_FALSE(line.display.bindings);
  EXPECT_TRUE(line.dry_run);
  EXPECT_TRUE(line.request.oversubscribe);
  EXPECT_EQ(line.settings, (Words{"a.b.c=1", "d.e.f=2"}));
  EXPECT_EQ(line.options.out_pattern, "dir/rank.%r.out");
  EXPECT_EQ(line.options.err_pattern, "dir/rank.%r.err");
  EXPECT_TRUE(line.options.timestamp_output);
  EXPECT_EQ(line.request.ranks_per_host_max, 3u);
  EXPECT_EQ(ErrorOf({"--tag-output=yes", "a"}), "--tag-output takes no value");
  EXPECT_EQ(ErrorOf({"--checkpoint=foo", "a"}),
            "--checkpoint takes no value but auto or required; --checkpoint-dir DIR says where the "
            "job is saved");
  EXPECT_EQ(ErrorOf({"--param", "a.b.c", "p"}), "--param a.b.c: not name=value");
  EXPECT_EQ(ErrorOf({"--display", "maps", "p"}),
            "--display maps: not one or several of plan, allocation, env, bindings");
}

TEST(CommandLine, FilesOfWords) {
  const Invocation line = Parse({"-v", "-configfile", "programs", ":", "-n", "3", "c"});
  ASSERT_EQ(line.request.programs.size(), 3u);
  EXPECT_EQ(line.request.programs[0].argv, (Words{"a", "one word"}));
  EXPECT_EQ(line.request.programs[1].argv, Words{"b"});
  EXPECT_EQ(line.request.programs[1].ranks, 2u);
  EXPECT_EQ(line.request.programs[2].argv, Words{"c"});
  EXPECT_EQ(Parse({"--app", "programs"}).request.programs.size(), 2u);
  const Invocation options = Parse({"-file", "options", "a"});
  EXPECT_EQ(options.request.programs[0].ranks, 3u);
  EXPECT_EQ(options.request.programs[0].environment, Words{"A=b c"});
  EXPECT_EQ(ErrorOf({"-configfile", "nowhere"}),
            "-configfile nowhere: nowhere: No such file or directory");
  EXPECT_EQ(ErrorOf({"-configfile", "programs", "c"}),
            "-configfile programs: what follows such a file begins with a colon");
  EXPECT_EQ(ErrorOf({"-file", "itself", "a"}),
            "-file itself: these are more than 32 files of words");
  EXPECT_EQ(ErrorOf({"-file", "open", "a"}), "-file open: a ' does not end");
}

TEST(CommandLine, WordsOfTheStandard) {
  const Invocation line = Parse({"-n", "8", "-soft", "2:8:2", "-host", "n1", "-arch", "riscv64",
                                 "-wdir", "/w", "-path", "/a:/b", "-initial-errhandler",
                                 "mpi_errors_return", "-memory-alloc-kinds", "mpi,system", "a"});
  const ProgramRequest& program = line.request.programs[0];
  EXPECT_EQ(program.soft, (std::vector<SoftRange>{{2, 8, 2}}));
  EXPECT_EQ(program.hosts[0].name, "n1");
  EXPECT_EQ(program.arch, "riscv64");
  EXPECT_EQ(program.wdir, "/w");
  EXPECT_EQ(program.path, "/a:/b");
  EXPECT_EQ(program.environment, (Words{"LAMINA_CORE_ERRORS_INITIAL_HANDLER=mpi_errors_return",
                                        "LAMINA_CORE_MEMORY_ALLOC_KINDS=mpi,system"}));
  EXPECT_EQ(ErrorOf({"-initial-errhandler", "mpi_errors_ignore", "a"}),
            "-initial-errhandler mpi_errors_ignore: not one of mpi_errors_are_fatal, "
            "mpi_errors_abort, mpi_errors_return");
  EXPECT_EQ(ErrorOf({"-soft", "1:2:0", "a"}),
            "-soft 1:2:0: character 1: \"1:2:0\" does not lead from its first number to its last");
}

TEST(CommandLine, FilesForOutput) {
  EXPECT_EQ(Parse({"-outfile-pattern", "o.%r", "a"}).options.out_pattern, "o.%r");
  EXPECT_EQ(Parse({"--output", "50%", "a"}).options.out_pattern, "50%%/rank.%r.out");
  EXPECT_EQ(ErrorOf({"-errfile-pattern", "e.%x", "a"}),
            "-errfile-pattern e.%x: %x is none of %r (rank), %h (host), %p (its number) and %%");
  EXPECT_EQ(ErrorOf({"-errfile-pattern", "e%", "a"}),
            "-errfile-pattern e%: % is none of %r (rank), %h (host), %p (its number) and %%");
}

TEST(OptionTable, NoNameIsTakenTwice) {
  std::vector<std::string> names = OptionNames();
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
  for (const Option& option : Options()) {
    EXPECT_NE(option.help[0], '\0') << option.names[0];
    for (const char* name : option.names) {
      if (name == nullptr) continue;
      EXPECT_EQ(FindOption(name), &option) << name;
    }
  }
}

TEST(OptionTable, AForeignOptionIsNotOurs) {
  for (const char* name : {"--mca", "-genvall", "--prefix", "-launcher"}) {
    EXPECT_FALSE(ForeignAdvice(name).empty()) << name;
    EXPECT_EQ(FindOption(name), nullptr) << name;
  }
  // A letter has one dash, and a number may follow it without a blank.
  EXPECT_FALSE(ForeignAdvice("-t").empty());
  EXPECT_TRUE(ForeignAdvice("--t").empty());
  for (const Words& words : {Words{"-t"}, Words{"-t", "10"}, Words{"-t10"}, Words{"-t=10"}})
    EXPECT_TRUE(ErrorOf(words).starts_with("unknown option -t: ")) << words.front();
  for (const Words& words : {Words{"--export"}, Words{"--export", "ALL"}, Words{"--export=A=b"}})
    EXPECT_TRUE(ErrorOf(words).starts_with("unknown option --export: ")) << words.front();
}

}  // namespace
}  // namespace lamina::launcher
