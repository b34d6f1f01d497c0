// SPDX-License-Identifier: BSD-3-Clause
// Goal:   every value has one origin, the strongest; a bad value is refused with its name, range
//         and origin; a child process sees what its launcher saw.
// Method: one table of parameters of every type is fed from command line, environment and files.
#include "runtime/base/param.h"

#include <gtest/gtest.h>

#include <fstream>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include "runtime/base/environment.h"
#include "runtime/base/text.h"

namespace lamina::param {
namespace {

struct Params {
  std::uint32_t ring_cells = 128;
  std::uint64_t segment_bytes_max = 1 << 20;
  std::int64_t offset = -1;
  double growth = 1.5;
  bool cma = true;
  std::string mode = "auto";
  std::string path;
};
inline constexpr std::tuple kFields{
    Describe("transport.shm.ring_cells", &Params::ring_cells, Unit::kCount, 2u, 65536u, "Cells."),
    Describe("transport.shm.segment_bytes_max", &Params::segment_bytes_max, Unit::kBytes, 4096u,
             std::uint64_t{1} << 40, "Segment."),
    Describe("transport.shm.offset", &Params::offset, Unit::kMicroseconds, INT64_MIN, 100,
             "Offset."),
    Describe("transport.shm.growth", &Params::growth, Unit::kNone, 1.0, 4.0, "Growth."),
    Describe("transport.shm.cma", &Params::cma, "Single copy."),
    Describe("p2p.wait.mode", &Params::mode, "auto|exclusive|oversubscribed", "How to wait."),
    Describe("transport.shm.path", &Params::path, "", "Where."),
};
const std::vector<std::string> kKnown{"transport.shm.ring_cells", "transport.shm.segment_bytes_max",
                                      "transport.shm.offset",     "transport.shm.growth",
                                      "transport.shm.cma",        "p2p.wait.mode",
                                      "transport.shm.path"};

Settings WithEnvironment(const std::vector<std::string>& assignments) {
  return Settings::FromEnvironment(Environment(assignments));
}

Settings WithCommandLine(const std::vector<std::string>& assignments) {
  Settings settings;
  for (const std::string& assignment : assignments) {
    const Status status = settings.AddCommandLine(assignment);
    EXPECT_TRUE(status.ok()) << status.message();
  }
  return settings;
}

std::string WriteFile(const std::string& name, const std::string& text) {
  std::string path = testing::TempDir() + name;
  std::ofstream(path) << text;
  return path;
}

// Returns the message of loading `assignment` from the command line, or "" when it is accepted.
std::string Complaint(const std::string& assignment) {
  Params params;
  return std::string(Load(WithCommandLine({assignment}), kFields, &params).message());
}

TEST(Settings, CommandLineBeatsEnvironmentBeatsFilesBeatsDefault) {
  const std::string file = WriteFile("order.conf",
                                     "transport.shm.ring_cells = 10\n"
                                     "transport.shm.offset = 11\n"
                                     "transport.shm.growth = 2\n");
  Settings settings = WithEnvironment(
      {"LAMINA_TRANSPORT_SHM_RING_CELLS=20", "LAMINA_TRANSPORT_SHM_OFFSET=21", "HOME=/"});
  ASSERT_TRUE(settings.AddCommandLine("transport.shm.ring_cells=30").ok());
  ASSERT_TRUE(settings.AddFile(file).ok());
  Params params;
  ASSERT_TRUE(Load(settings, kFields, &params).ok());
  EXPECT_EQ(params.ring_cells, 30u);
  EXPECT_EQ(params.offset, 21);
  EXPECT_EQ(params.growth, 2.0);
  EXPECT_TRUE(params.cma);
  EXPECT_EQ(settings.Find("transport.shm.ring_cells")->where, "--param");
  EXPECT_EQ(settings.Find("transport.shm.offset")->where,
            "environment LAMINA_TRANSPORT_SHM_OFFSET");
  EXPECT_EQ(settings.Find("transport.shm.growth")->where, file + ":3");
  EXPECT_EQ(settings.Find("transport.shm.cma"), nullptr);
}

TEST(Settings, ALaterCommandLineValueReplacesAnEarlierOne) {
  const Settings settings = WithCommandLine({"a.b.c=1", "a.b.c = two words "});
  EXPECT_EQ(settings.Find("a.b.c")->value, "two words");
}

TEST(Settings, FromEnvironmentTakesAnArrayAndIgnoresStrangers) {
  const char* environment[] = {"PATH=/bin", "LAMINA_A_B_C=1", "LAMINA_", "LAMINA_X", nullptr};
  EXPECT_EQ(Settings::FromEnvironment(environment).Names(), std::vector<std::string>{"a.b.c"});
  const char* const* none = nullptr;
  EXPECT_TRUE(Settings::FromEnvironment(none).Names().empty());
}

TEST(Settings, AVariableMayHaveSmallLetters) {
  const Settings settings = WithEnvironment({"LAMINA_A_B_C=1", "LAMINA_a_b_c=2", "LAMINA_d_E.f=3",
                                             "LAMINA_rank=4", "LAMINA_=5", "LAMINA_\xff=6"});
  EXPECT_EQ(settings.Names(), (std::vector<std::string>{"a.b.c", "d.e.f"}));
  ASSERT_NE(settings.Find("a.b.c"), nullptr);
  EXPECT_EQ(settings.Find("a.b.c")->value, "1") << "the one that is written as it should be";
  ASSERT_NE(settings.Find("d.e.f"), nullptr);
  EXPECT_EQ(settings.Find("d.e.f")->where, "environment LAMINA_d_E.f");
  EXPECT_EQ(UnknownNames(settings, {"a.b.c"}).size(), 1u);
}

TEST(Settings, ReservedNamesAreNoParameters) {
  const Settings settings = WithEnvironment(
      {"LAMINA_ORIGINS=", "LAMINA_EVENT_FD=7", "LAMINA_ROSTER=1:8", "LAMINA_NODE_MEMORY=1:9",
       "LAMINA_CHECKPOINT=5:6:", "LAMINA_FURTHER=h", "LAMINA_AGENT=7:8", "LAMINA_WINDOW_FOLDER=/x",
       "LAMINA_DOOR=d", "LAMINA_COMPONENT_PATH=/opt/x", "LAMINA_PREFIX=/usr", "LAMINA_PREFIX_X=1",
       "LAMINA_RANK=1", "LAMINA_SIZE=2", "LAMINA_LOCAL_RANK=1", "LAMINA_LOCAL_SIZE=2",
       "LAMINA_NODE=0", "LAMINA_NODES=1"});
  EXPECT_EQ(settings.Names(), std::vector<std::string>{"prefix.x"});
  Settings line;
  for (const char* reserved : {"origins=1", "event.fd=2", "roster=5", "node.memory=6",
                               "checkpoint=6", "component.path=3", "prefix=4"}) {
    const Status status = line.AddCommandLine(reserved);
    EXPECT_EQ(status.code(), Code::kInvalid) << reserved;
    EXPECT_NE(status.message().find("LAMINA_"), std::string::npos) << status.message();
  }
  EXPECT_TRUE(line.Names().empty());
}

TEST(Settings, CommandLineNeedsANameAndAnEqualsSign) {
  Settings settings;
  for (const char* bad : {"a.b.c", "", "=1", "a b=1", "a/b=1", "\xc3\xa4=1"})
    EXPECT_EQ(settings.AddCommandLine(bad).code(), Code::kInvalid) << bad;
  EXPECT_TRUE(settings.AddCommandLine("a.b.empty=").ok());
  EXPECT_TRUE(settings.AddCommandLine("a.b.equation=x=y").ok());
  EXPECT_EQ(settings.Find("a.b.equation")->value, "x=y");
  EXPECT_EQ(settings.Find("a.b.empty")->value, "");
}

TEST(Settings, FilesHaveCommentsAndTheFirstFileWins) {
  const std::string first = WriteFile("first.conf",
                                      "# a comment\n"
                                      "\n"
                                      "  a.b.c = 1   # why\r\n"
                                      "a.b.hash=x#y\n"
                                      "a.b.last = z");
  const std::string second = WriteFile("second.conf", "a.b.c = 2\na.b.d = 3\n");
  Settings settings;
  ASSERT_TRUE(settings.AddFile(first).ok());
  ASSERT_TRUE(settings.AddFile(second).ok());
  EXPECT_EQ(settings.Find("a.b.c")->value, "1");
  EXPECT_EQ(settings.Find("a.b.c")->where, first + ":3");
  EXPECT_EQ(settings.Find("a.b.hash")->value, "x#y");
  EXPECT_EQ(settings.Find("a.b.last")->value, "z");
  EXPECT_EQ(settings.Find("a.b.d")->where, second + ":2");
}

TEST(Settings, ABadFileIsNamedByLineAndChangesNothing) {
  const struct {
    const char* text;
    const char* complaint;
  } kBad[] = {{"a.b.c = 1\nrubbish\n", ":2: expected name = value"},
              {"\n\na b = 1\n", ":3: \"a b\" is not a parameter name"},
              {"prefix = /usr\n", ":1: \"prefix\" is not a parameter: LAMINA_PREFIX"},
              {"a.b.c = 1\nA.B.C = 2\n", ":2: A.B.C is set already at"}};
  for (const auto& bad : kBad) {
    const std::string path = WriteFile("bad.conf", bad.text);
    Settings settings;
    const Status status = settings.AddFile(path);
    EXPECT_EQ(status.code(), Code::kInvalid);
    EXPECT_EQ(status.message().find(path + bad.complaint), 0u) << status.message();
    EXPECT_TRUE(settings.Names().empty());
  }
}

TEST(Settings, AFileThatCannotBeReadIsNotFound) {
  Settings settings;
  const Status missing = settings.AddFile("/nowhere/lamina.conf");
  EXPECT_EQ(missing.code(), Code::kNotFound);
  EXPECT_EQ(missing.message(),
            "cannot read parameter file /nowhere/lamina.conf: No such file or directory");
  EXPECT_EQ(settings.AddFile("/").code(), Code::kNotFound);  // a directory
}

TEST(EnvironmentName, IsUpperCaseAndLossy) {
  EXPECT_EQ(EnvironmentName("transport.shm.ring_cells"), "LAMINA_TRANSPORT_SHM_RING_CELLS");
  EXPECT_EQ(EnvironmentName("transport.shm_ring.cells"), "LAMINA_TRANSPORT_SHM_RING_CELLS");
  const Settings settings = WithEnvironment({"LAMINA_TRANSPORT_SHM_RING_CELLS=4"});
  EXPECT_NE(settings.Find("transport.shm.ring_cells"), nullptr);
  EXPECT_NE(settings.Find("transport.shm_ring.cells"), nullptr);
}

// Returns what the child of a launcher with `settings` sees; `extra` are set on the way.
Settings Child(const Settings& settings, const std::vector<std::string>& extra = {}) {
  std::vector<std::string> assignments = settings.Export();
  assignments.insert(assignments.end(), extra.begin(), extra.end());
  return WithEnvironment(assignments);
}

TEST(Export, AChildReportsTheOriginsItsLauncherKnew) {
  const std::string file = WriteFile("odd;na,me%.conf", "transport.shm.growth = 3\n");
  Settings settings = WithEnvironment({"LAMINA_TRANSPORT_SHM_CMA=off"});
  ASSERT_TRUE(settings.AddFile(file).ok());
  ASSERT_TRUE(settings.AddCommandLine("transport.a_b.ring_cells=8").ok());
  for (const Settings& child : {Child(settings), Child(Child(settings))}) {
    EXPECT_EQ(child.Names(), settings.Names());
    for (const std::string& name : settings.Names()) {
      EXPECT_EQ(child.Find(name)->value, settings.Find(name)->value) << name;
      EXPECT_EQ(child.Find(name)->origin, settings.Find(name)->origin) << name;
      EXPECT_EQ(child.Find(name)->where, settings.Find(name)->where) << name;
    }
  }
  EXPECT_EQ(settings.Find("transport.shm.growth")->where, file + ":1");
}

TEST(Export, AValueChangedOnTheWayComesFromTheEnvironment) {
  const Settings child = Child(WithCommandLine({"a.b.c=1", "a.b.d=2"}), {"LAMINA_A_B_C=7"});
  EXPECT_EQ(child.Find("a.b.c")->value, "7");
  EXPECT_EQ(child.Find("a.b.c")->origin, Origin::kEnvironment);
  EXPECT_EQ(child.Find("a.b.c")->where, "environment LAMINA_A_B_C");
  EXPECT_EQ(child.Find("a.b.d")->origin, Origin::kCommandLine);
}

TEST(Export, NeedsNoOriginsForTheEnvironment) {
  EXPECT_TRUE(Settings().Export().empty());
  const Settings settings = WithEnvironment({"LAMINA_B=2", "LAMINA_A=1"});
  EXPECT_EQ(settings.Export(), (std::vector<std::string>{"LAMINA_A=1", "LAMINA_B=2"}));
}

TEST(Export, OriginsThatMakeNoSenseAreIgnored) {
  for (const char* origins : {"", ";;;", "a.b.c", "a.b.c,c", "a.b.c,x,1,y", "a.b.c,c,00000000,w",
                              ",c,350ca8af,w", "a.b.c,,350ca8af,%", "%%%,%,%,%"}) {
    const Settings settings =
        WithEnvironment({"LAMINA_A_B_C=0", std::string("LAMINA_ORIGINS=") + origins});
    ASSERT_EQ(settings.Names(), std::vector<std::string>{"a.b.c"}) << origins;
    EXPECT_EQ(settings.Find("a.b.c")->origin, Origin::kEnvironment) << origins;
  }
}

TEST(Load, FillsEveryType) {
  Params params;
  const Status status =
      Load(WithCommandLine({"transport.shm.ring_cells=65536", "transport.shm.segment_bytes_max=3m",
                            "transport.shm.offset=-9223372036854775808",
                            "transport.shm.growth=2.5e0", "transport.shm.cma=No",
                            "p2p.wait.mode=exclusive", "transport.shm.path=/a path"}),
           kFields, &params);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(params.ring_cells, 65536u);
  EXPECT_EQ(params.segment_bytes_max, 3u << 20);
  EXPECT_EQ(params.offset, std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(params.growth, 2.5);
  EXPECT_FALSE(params.cma);
  EXPECT_EQ(params.mode, "exclusive");
  EXPECT_EQ(params.path, "/a path");
}

TEST(Load, ComplaintsNameParameterValueRangeAndOrigin) {
  EXPECT_EQ(Complaint("transport.shm.ring_cells=1"),
            "parameter transport.shm.ring_cells: \"1\" is out of range 2..65536 (set by --param)");
  EXPECT_EQ(Complaint("transport.shm.ring_cells=many"),
            "parameter transport.shm.ring_cells: \"many\" is not a whole number, expected 2..65536 "
            "(set by --param)");
  EXPECT_EQ(Complaint("transport.shm.segment_bytes_max=1k"),
            "parameter transport.shm.segment_bytes_max: \"1k\" is out of range "
            "4096..1099511627776 bytes (set by --param)");
  EXPECT_EQ(Complaint("transport.shm.growth=fast"),
            "parameter transport.shm.growth: \"fast\" is not a number, expected 1..4 (set by "
            "--param)");
  EXPECT_EQ(Complaint("transport.shm.cma=maybe"),
            "parameter transport.shm.cma: \"maybe\" is not a switch, expected true|false, yes|no, "
            "on|off or 1|0 (set by --param)");
  EXPECT_EQ(Complaint("p2p.wait.mode=exlusive"),
            "parameter p2p.wait.mode: \"exlusive\" is not one of auto|exclusive|oversubscribed "
            "(set by --param); did you mean \"exclusive\"?");
}

TEST(Load, RefusesWhatIsNoNumberAndWhatDoesNotFit) {
  for (const char* bad : {"", "-", "+3", "3.0", "0x10", "3 4", "3k", "65537", "-3", "4294967298",
                          "18446744073709551618", "99999999999999999999999999"})
    EXPECT_NE(Complaint(std::string("transport.shm.ring_cells=") + bad), "") << bad;
  for (const char* bad : {"k", "4kk", "4 k", "4t", "1024g4", "17179869184g", "2000g", "-4k"})
    EXPECT_NE(Complaint(std::string("transport.shm.segment_bytes_max=") + bad), "") << bad;
  for (const char* bad : {"-9223372036854775809", "101", "9223372036854775808", "--1", "-"})
    EXPECT_NE(Complaint(std::string("transport.shm.offset=") + bad), "") << bad;
  for (const char* bad : {"nan", "inf", "1e999", "0.99", "4.01", "", "2,5", "2x"})
    EXPECT_NE(Complaint(std::string("transport.shm.growth=") + bad), "") << bad;
}

TEST(Load, TakesAllSpellingsOfBytesAndSwitches) {
  const struct {
    const char* text;
    std::uint64_t bytes;
  } kSizes[] = {{"4096", 4096}, {"4k", 4096}, {"8K", 8192}, {"1m", 1 << 20}, {"2G", 2ull << 30}};
  for (const auto& size : kSizes) {
    Params params;
    const std::string line = std::string("transport.shm.segment_bytes_max=") + size.text;
    ASSERT_TRUE(Load(WithCommandLine({line}), kFields, &params).ok()) << line;
    EXPECT_EQ(params.segment_bytes_max, size.bytes) << line;
  }
  for (const char* word : {"true", "YES", "on", "1", "false", "no", "Off", "0"}) {
    Params params;
    params.cma = false;
    const std::string line = std::string("transport.shm.cma=") + word;
    ASSERT_TRUE(Load(WithCommandLine({line}), kFields, &params).ok()) << line;
    EXPECT_EQ(params.cma, std::string("true YES on 1").find(word) != std::string::npos) << line;
  }
}

TEST(Load, ABadValueLeavesItsMemberAlone) {
  Params params;
  EXPECT_FALSE(Load(WithCommandLine({"transport.shm.ring_cells=0"}), kFields, &params).ok());
  EXPECT_EQ(params.ring_cells, 128u);
}

TEST(Rows, ShowValueDefaultRangeUnitAndOrigin) {
  const std::vector<Row> rows =
      Rows<Params>(WithEnvironment({"LAMINA_TRANSPORT_SHM_SEGMENT_BYTES_MAX=2m"}), kFields);
  ASSERT_EQ(rows.size(), 7u);
  EXPECT_EQ(rows[0].name, "transport.shm.ring_cells");
  EXPECT_EQ(rows[0].value, "128");
  EXPECT_EQ(rows[0].range, "2..65536");
  EXPECT_EQ(rows[0].origin, Origin::kDefault);
  EXPECT_EQ(rows[0].where, "");
  EXPECT_EQ(rows[0].help, "Cells.");
  EXPECT_EQ(rows[1].value, "2097152");
  EXPECT_EQ(rows[1].default_value, "1048576");
  EXPECT_STREQ(Name(rows[1].unit), "bytes");
  EXPECT_EQ(rows[1].origin, Origin::kEnvironment);
  EXPECT_EQ(rows[1].where, "environment LAMINA_TRANSPORT_SHM_SEGMENT_BYTES_MAX");
  EXPECT_EQ(rows[3].value, "1.5");
  EXPECT_EQ(rows[4].range, "true|false");
  EXPECT_EQ(rows[5].range, "auto|exclusive|oversubscribed");
  EXPECT_EQ(rows[6].range, "");
}

TEST(Rows, ABadValueShowsTheDefaultAndTheProblem) {
  const std::vector<Row> rows =
      Rows<Params>(WithCommandLine({"transport.shm.ring_cells=1"}), kFields);
  EXPECT_EQ(rows[0].value, "128");
  EXPECT_EQ(rows[0].origin, Origin::kDefault);
  EXPECT_NE(rows[0].problem.find("out of range"), std::string::npos) << rows[0].problem;
  EXPECT_EQ(rows[1].problem, "");
}

TEST(Print, ReadsBackAsTheSameNumber) {
  for (const double number : {0.1, 1e300, -2.5, 1.0 / 3.0, 65536.0, 0.0, 5e-324}) {
    double again = 0;
    const Found found{Print(number), Origin::kDefault, ""};
    ASSERT_TRUE(Parse(found, "x", Unit::kNone, -1e301, 1e301, &again).ok());
    EXPECT_EQ(again, number);
  }
  EXPECT_EQ(Print(std::numeric_limits<std::uint64_t>::max()), "18446744073709551615");
  EXPECT_EQ(Print(true), "true");
}

TEST(Print, IsShort) {
  EXPECT_EQ(Print(0.15), "0.15");
  EXPECT_EQ(Print(1000.0), "1000");
  EXPECT_EQ(Print(1e9), "1e+09");
  EXPECT_EQ(Print(1234567.5), "1234567.5");
}

TEST(UnknownNames, NamesTheNearestKnownOne) {
  const Settings settings = WithCommandLine({"transport.shm.ring_cell=3"});
  EXPECT_EQ(UnknownNames(settings, kKnown),
            std::vector<std::string>{"unknown parameter \"transport.shm.ring_cell\" (--param); did "
                                     "you mean \"transport.shm.ring_cells\"?"});
}

TEST(UnknownNames, SuggestsAVariableForAVariable) {
  const Settings settings = WithEnvironment({"LAMINA_TRANSPORT_SHM_RING_CELL=3"});
  EXPECT_EQ(UnknownNames(settings, kKnown),
            std::vector<std::string>{"unknown parameter \"transport.shm.ring_cell\" (environment "
                                     "LAMINA_TRANSPORT_SHM_RING_CELL); did you mean "
                                     "\"LAMINA_TRANSPORT_SHM_RING_CELLS\"?"});
}

TEST(UnknownNames, LossyNamesOfTheEnvironmentAreKnown) {
  const Settings settings = WithEnvironment(
      {"LAMINA_TRANSPORT_SHM_RING_CELLS=4", "LAMINA_P2P_WAIT_MODE=auto", "LAMINA_X_Y_Z=1"});
  EXPECT_EQ(UnknownNames(settings, {"transport.shm_ring.cells", "p2p.wait.mode", "x.y_z"}),
            std::vector<std::string>{});
}

TEST(UnknownNames, SaysOnlyThatItIsUnknownWhenNothingIsNear) {
  EXPECT_EQ(UnknownNames(WithCommandLine({"frobnicate=1"}), kKnown),
            std::vector<std::string>{"unknown parameter \"frobnicate\" (--param)"});
  EXPECT_EQ(UnknownNames(WithCommandLine({"frobnicate=1"}), {}).size(), 1u);
}

}  // namespace
}  // namespace lamina::param
