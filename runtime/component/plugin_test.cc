// SPDX-License-Identifier: BSD-3-Clause
// Goal:   a third party's shared object works like a shipped component; one that cannot work is
//         refused with its reason and harms nobody; no byte behind struct_size is read.
// Method: build testing/sample.c with the machine's C compiler in an empty directory, as it is and
//         broken in every way we know, and load the results into a toy framework.
#include "runtime/component/plugin.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "runtime/base/environment.h"
#include "runtime/base/text.h"

namespace lamina::component {
namespace {

// This is the C++ side of the toy framework.
class Arithmetic {
 public:
  virtual ~Arithmetic() = default;
  virtual std::int64_t Subtract(std::int64_t a, std::int64_t b) = 0;
};
struct Context {
  const param::Settings* settings = nullptr;
};
struct Actions {
  std::int64_t (*add)(std::int64_t, std::int64_t);
  std::int64_t (*negate)(std::int64_t);
  std::int64_t (*multiply)(std::int64_t, std::int64_t);  // newer than the sample
};
class PluginArithmetic : public Arithmetic {
 public:
  explicit PluginArithmetic(const Actions& actions) : actions_(actions) {}
  std::int64_t Subtract(std::int64_t a, std::int64_t b) override {
    return actions_.add(a, actions_.negate(b));
  }

 private:
  Actions actions_;
};
Result<std::unique_ptr<Arithmetic>> Wrap(const Plugin& plugin, const Context&) {
  const Actions actions = ActionsOf<Actions>(plugin);
  if (actions.negate == nullptr) return Error(Code::kUnsupported, "it cannot negate");
  return std::unique_ptr<Arithmetic>(std::make_unique<PluginArithmetic>(actions));
}

constexpr HostFramework kSample{"sample", 3};

class PluginTest : public testing::Test {
 protected:
  PluginTest()
      : directory_(testing::TempDir() +
                   testing::UnitTest::GetInstance()->current_test_info()->name()) {
    std::filesystem::create_directories(directory_);
    for (const char* source :
         {"runtime/component/component_abi.h", "runtime/component/testing/sample.c"})
      std::filesystem::copy(source, directory_);
  }
  ~PluginTest() override { std::filesystem::remove_all(directory_); }

  // Compiles sample.c with `flags` to `file` in `directory_`/`below`.
  void Build(const std::string& file, const std::string& flags = "",
             const std::string& below = "") {
    std::filesystem::create_directories(directory_ + "/" + below);
    const std::string command =
        Format("cd '%s' && cc -shared -fPIC -I. -o './%s/%s' sample.c %s", directory_.c_str(),
               below.c_str(), file.c_str(), flags.c_str());
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
  }

  Plugins Load() { return LoadPlugins(kSample, {directory_}); }

  // Returns why the only object in the directory was refused.
  std::string Reason() {
    const Plugins plugins = Load();
    EXPECT_TRUE(plugins.loaded.empty());
    EXPECT_EQ(plugins.refused.size(), 1u);
    if (plugins.refused.size() != 1) return "";
    EXPECT_EQ(plugins.refused[0].path, directory_ + "/sample_adder.so");
    return plugins.refused[0].reason;
  }

  std::string directory_;
};

TEST_F(PluginTest, WorksLikeAShippedComponent) {
  Build("sample_adder.so");
  const Plugins plugins = Load();
  ASSERT_TRUE(plugins.refused.empty()) << plugins.refused[0].reason;
  ASSERT_EQ(plugins.loaded.size(), 1u);
  Registry<Arithmetic, Context> registry;
  ASSERT_TRUE(registry.Add(Adapt<Arithmetic, Context>(plugins.loaded[0], Wrap)).ok());
  const param::Settings settings;
  const Context context{&settings};
  const auto answers = registry.Ask(context);
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers[0].second.priority, 60);
  EXPECT_EQ(answers[0].second.why, "asked for 60");
  EXPECT_EQ(answers[0].first->info.name, "adder");
  EXPECT_EQ(answers[0].first->info.version, "1.2.3");
  EXPECT_EQ(answers[0].first->info.source, directory_ + "/sample_adder.so");
  auto arithmetic = answers[0].first->make(context);
  ASSERT_TRUE(arithmetic.ok()) << arithmetic.status().message();
  EXPECT_EQ((*arithmetic)->Subtract(44, 2), 42);
}

TEST_F(PluginTest, ReadsItsParameters) {
  Build("sample_adder.so");
  const Plugins plugins = Load();
  ASSERT_EQ(plugins.loaded.size(), 1u);
  param::Settings settings;
  ASSERT_TRUE(settings.AddCommandLine("sample.adder.priority=7").ok());
  EXPECT_EQ(Ask(plugins.loaded[0], settings).priority, 7);
  const std::vector<param::Row> rows = Rows(plugins.loaded[0], settings);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].name, "sample.adder.priority");
  EXPECT_EQ(rows[0].value, "7");
  EXPECT_EQ(rows[0].default_value, "60");
  EXPECT_EQ(rows[0].where, "--param");
  EXPECT_EQ(rows[1].help, "");
}

TEST_F(PluginTest, PrioritiesStayInRange) {
  Build("sample_adder.so");
  const Plugins plugins = Load();
  ASSERT_EQ(plugins.loaded.size(), 1u);
  param::Settings high;
  ASSERT_TRUE(high.AddCommandLine("sample.adder.priority=1000").ok());
  EXPECT_EQ(Ask(plugins.loaded[0], high).priority, 100);
  param::Settings refuses;
  ASSERT_TRUE(refuses.AddCommandLine("sample.adder.priority=-1").ok());
  EXPECT_EQ(Ask(plugins.loaded[0], refuses).priority, -1);
  EXPECT_EQ(Ask(plugins.loaded[0], refuses).why, "asked for -1");
}

TEST_F(PluginTest, WithoutAQueryItIsAlwaysThereAtZero) {
  Build("sample_adder.so", "-DSAMPLE_WITHOUT_QUERY");
  const Plugins plugins = Load();
  ASSERT_EQ(plugins.loaded.size(), 1u);
  EXPECT_EQ(Ask(plugins.loaded[0], {}).priority, 0);
}

TEST_F(PluginTest, ActionsOfAnOlderMinorAreAbsent) {
  Build("sample_adder.so", "-DSAMPLE_MINOR=1");
  const Plugins plugins = Load();
  ASSERT_EQ(plugins.loaded.size(), 1u);
  const Actions actions = ActionsOf<Actions>(plugins.loaded[0]);
  EXPECT_NE(actions.add, nullptr);
  EXPECT_EQ(actions.negate, nullptr);
  EXPECT_EQ(actions.multiply, nullptr);
  EXPECT_EQ(Wrap(plugins.loaded[0], {}).status().message(), "it cannot negate");
}

TEST_F(PluginTest, NothingBehindStructSizeIsRead) {
  Build("sample_adder.so",
        "-DSAMPLE_TRAP -DSAMPLE_BYTES=offsetof\\(lamina_component,parameters\\)");
  Plugins plugins = Load();
  ASSERT_EQ(plugins.loaded.size(), 1u);
  EXPECT_TRUE(Rows(plugins.loaded[0], {}).empty());
  // The descriptor is one byte short of its last field, and half a pointer counts as none.
  Build("sample_adder.so", "-DSAMPLE_TRAP -DSAMPLE_BYTES=sizeof\\(lamina_component\\)-1", "short");
  plugins = LoadPlugins(kSample, {directory_ + "/short"});
  ASSERT_EQ(plugins.loaded.size(), 1u);
  EXPECT_TRUE(Rows(plugins.loaded[0], {}).empty());
}

TEST_F(PluginTest, ALargerDescriptorOfTheFutureIsFine) {
  Build("sample_adder.so", "-DSAMPLE_BYTES=4096");
  EXPECT_EQ(Load().loaded.size(), 1u);
}

TEST_F(PluginTest, RefusesACutDescriptor) {
  Build("sample_adder.so", "-DSAMPLE_BYTES=16");
  EXPECT_EQ(Reason(), Format("its descriptor has 16 bytes, but at least %zu are needed",
                             offsetof(lamina_component, actions) + sizeof(void*)));
}

TEST_F(PluginTest, RefusesAnotherAbi) {
  Build("sample_adder.so", "-DSAMPLE_ABI=2");
  EXPECT_EQ(Reason(), "it speaks component ABI 2, but this lamina speaks 1");
}

TEST_F(PluginTest, RefusesAnotherMajorAndGivesBothNumbers) {
  Build("sample_adder.so", "-DSAMPLE_MAJOR=9");
  EXPECT_EQ(Reason(), "it was built for version 9 of the sample framework, but this is version 3");
}

TEST_F(PluginTest, RefusesAMissingSymbol) {
  Build("sample_adder.so", "-DSAMPLE_SYMBOL=some_other_name");
  EXPECT_EQ(Reason(), "it does not export lamina_component_sample_adder");
}

TEST_F(PluginTest, RefusesAMissingVendorLibrary) {
  // This library is there when the component is built and gone when it is loaded.
  std::ofstream(directory_ + "/vendor.c") << "void vendor_start(void) {}\n";
  const std::string command = "cd '" + directory_ +
                              "' && cc -shared -fPIC -Wl,-soname,libvendor.so.7 -o libvendor.so "
                              "vendor.c";
  ASSERT_EQ(std::system(command.c_str()), 0);
  Build("sample_adder.so", "-DSAMPLE_NEEDS -L. -lvendor");
  std::filesystem::remove(directory_ + "/libvendor.so");
  const std::string reason = Reason();
  EXPECT_NE(reason.find("libvendor.so.7: cannot open shared object file"), std::string::npos)
      << reason;
}

TEST_F(PluginTest, RefusesAMissingFunction) {
  Build("sample_adder.so", "-DSAMPLE_NEEDS");
  const std::string reason = Reason();
  EXPECT_NE(reason.find("undefined symbol: vendor_start"), std::string::npos) << reason;
}

TEST_F(PluginTest, RefusesWhatIsNoSharedObject) {
  std::ofstream(directory_ + "/sample_adder.so") << "#!/bin/sh\n";
  EXPECT_NE(Reason().find("file too short"), std::string::npos);
}

TEST_F(PluginTest, RefusesOtherDefects) {
  const struct {
    const char* flags;
    const char* reason;
  } kDefects[] = {
      {"-DSAMPLE_NULL_DESCRIPTOR", "its descriptor is null"},
      {"-DSAMPLE_FRAMEWORK=\\\"other\\\"",
       "it says it is a other component, but its file name says sample"},
      {"-DSAMPLE_FRAMEWORK=NULL",
       "it says it is a (null) component, but its file name says sample"},
      {"-DSAMPLE_NAME=\\\"divider\\\"",
       "it calls itself \"divider\", but its file name says \"adder\""},
      {"-DSAMPLE_VERSION=\\\"new\\\"", "its version \"new\" does not start with a digit"},
      {"-DSAMPLE_VERSION=NULL", "its version \"(null)\" does not start with a digit"},
      {"-DSAMPLE_WITHOUT_ACTIONS", "it has no actions"},
  };
  for (const auto& defect : kDefects) {
    Build("sample_adder.so", defect.flags);
    EXPECT_EQ(Reason(), defect.reason) << defect.flags;
  }
}

TEST_F(PluginTest, RefusesNamesThatAreNoneWithoutOpeningThem) {
  for (const char* file : {"sample_.so", "sample_Adder.so", "sample_base.so", "sample_9.so"})
    std::ofstream(directory_ + "/" + file) << "not even read";
  const Plugins plugins = Load();
  EXPECT_TRUE(plugins.loaded.empty());
  ASSERT_EQ(plugins.refused.size(), 4u);
  for (const Refusal& refusal : plugins.refused)
    EXPECT_NE(refusal.reason.find("cannot name a component"), std::string::npos) << refusal.reason;
}

TEST_F(PluginTest, OpensOnlyTheFrameworkInUse) {
  // If any of these were opened, it would be listed as refused.
  for (const char* file : {"other_adder.so", "adder.so", "sample_adder.so.1", "sample_adder.txt"})
    std::ofstream(directory_ + "/" + file) << "x";
  const Plugins plugins = Load();
  EXPECT_TRUE(plugins.loaded.empty());
  EXPECT_TRUE(plugins.refused.empty());
}

TEST_F(PluginTest, TheFirstOfANameIsTakenAndTheNextReported) {
  Build("sample_adder.so", "-DSAMPLE_VERSION=\\\"2.0\\\"", "first");
  Build("sample_adder.so", "", "second");
  const Plugins plugins = LoadPlugins(kSample, {directory_ + "/first", directory_ + "/second"});
  ASSERT_EQ(plugins.loaded.size(), 1u);
  EXPECT_EQ(plugins.loaded[0].info.version, "2.0");
  ASSERT_EQ(plugins.refused.size(), 1u);
  EXPECT_EQ(plugins.refused[0].path, directory_ + "/second/sample_adder.so");
  EXPECT_EQ(plugins.refused[0].reason,
            "\"adder\" is loaded from " + directory_ + "/first/sample_adder.so");
}

TEST_F(PluginTest, ABadOneDoesNotHideAGoodOne) {
  Build("sample_adder.so", "-DSAMPLE_ABI=2", "first");
  Build("sample_adder.so", "", "second");
  const Plugins plugins = LoadPlugins(kSample, {directory_ + "/first", directory_ + "/second"});
  EXPECT_EQ(plugins.loaded.size(), 1u);
  EXPECT_EQ(plugins.refused.size(), 1u);
}

TEST_F(PluginTest, DirectoriesThatCannotBeReadAreListed) {
  const Plugins plugins = LoadPlugins(kSample, {"/nowhere", "relative"});
  ASSERT_EQ(plugins.refused.size(), 2u);
  EXPECT_EQ(plugins.refused[0].reason, "cannot read the directory: No such file or directory");
  EXPECT_EQ(plugins.refused[1].reason, "not an absolute path");
}

TEST_F(PluginTest, TheUsersDirectoriesComeBeforeTheInstalledOne) {
  const std::string prefix = directory_ + "/prefix";
  std::filesystem::create_directories(prefix + "/lib/lamina");
  EXPECT_EQ(PluginDirectories(Environment({"LAMINA_COMPONENT_PATH=/a::/b:"}), prefix),
            (std::vector<std::string>{"/a", "/b", prefix + "/lib/lamina"}));
  EXPECT_EQ(PluginDirectories(Environment({"LAMINA_PREFIX=" + prefix}), "/usr"),
            (std::vector<std::string>{prefix + "/lib/lamina"}));
  EXPECT_TRUE(PluginDirectories(Environment(), "").empty());
  EXPECT_TRUE(PluginDirectories(Environment(), "/nowhere").empty());
}

}  // namespace
}  // namespace lamina::component
