// SPDX-License-Identifier: BSD-3-Clause
// FindDevices on trees of files as the kernel makes them in /sys/class.
#include "transports/ucx/devices.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>

namespace lamina::ucx {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

class DevicesTest : public testing::Test {
 protected:
  void TearDown() override { fs::remove_all(sys_); }

  void Add(const std::string& device) {
    fs::create_directories(sys_ / "net" / device);
    names_.push_back(device);
  }
  void AddHardware(const std::string& device) {
    Add(device);
    fs::create_directories(sys_ / "net" / device / "device");
  }
  void AddBridge(const std::string& bridge, const Names& members) {
    Add(bridge);
    fs::create_directories(sys_ / "net" / bridge / "bridge");
    for (const std::string& member : members)
      fs::create_directories(sys_ / "net" / bridge / "brif" / member);
  }

  Devices Find() const { return FindDevices(names_, sys_); }

  static fs::path Fresh() {
    std::string name = testing::TempDir() + "devices-XXXXXX";
    return mkdtemp(name.data());
  }
  const fs::path sys_ = Fresh();
  Names names_;
};

TEST_F(DevicesTest, BridgesOfContainersAreLeftOut) {
  AddHardware("eth0");
  Add("lo");
  Add("veth12");
  AddBridge("docker0", {"veth12"});
  AddBridge("virbr0", {});
  const Devices devices = Find();
  EXPECT_EQ(devices.usable, (Names{"eth0", "lo", "veth12"}));
  EXPECT_EQ(devices.inner_bridges, (Names{"docker0", "virbr0"}));
}

TEST_F(DevicesTest, ABridgeThatLeadsOutIsKept) {
  AddHardware("eth0");
  AddBridge("br0", {"eth0"});
  Add("bond0");
  fs::create_directories(sys_ / "net" / "bond0" / "lower_eth1");
  Add("tap3");
  AddBridge("br1", {"bond0", "tap3"});
  const Devices devices = Find();
  EXPECT_EQ(devices.usable, (Names{"eth0", "br0", "bond0", "tap3", "br1"}));
  EXPECT_EQ(devices.inner_bridges, Names{});
}

TEST_F(DevicesTest, PortsOfAdaptersAreNamedAsUcxDoes) {
  fs::create_directories(sys_ / "infiniband" / "mlx5_0" / "ports" / "1");
  fs::create_directories(sys_ / "infiniband" / "mlx5_1" / "ports" / "2");
  EXPECT_EQ(Find().usable, (Names{"mlx5_0:1", "mlx5_1:2"}));
}

TEST_F(DevicesTest, WhatTheKernelDoesNotListIsUsable) {
  const Devices devices = FindDevices({"eth0"}, sys_.string() + "/gone");
  EXPECT_EQ(devices.usable, Names{"eth0"});
  EXPECT_EQ(devices.inner_bridges, Names{});
}

TEST(AddressedDevices, NamesTheLoopbackDevice) {
  const std::vector<AddressedDevice> devices = AddressedDevices();
  EXPECT_TRUE(std::any_of(devices.begin(), devices.end(), [](const AddressedDevice& device) {
    return device.name == "lo" && device.address == "127.0.0.1";
  }));
}

TEST(DevicesIn, AreThoseOfThatNameOrWithAnAddressThere) {
  const std::vector<AddressedDevice> devices = {
      {"eth0", "10.1.2.3"}, {"eth0", "fd00::7"}, {"eth1", "192.168.7.1"}, {"lo", "127.0.0.1"}};
  const auto found = [&](const std::string& network) {
    Result<Names> names = DevicesIn(network, devices);
    return names.ok() ? *names : Names{Name(names.status().code())};
  };
  EXPECT_EQ(found("eth1"), (Names{"eth1"}));
  EXPECT_EQ(found("10.1.0.0/16"), (Names{"eth0"}));
  EXPECT_EQ(found("10.1.2.3"), (Names{"eth0"}));
  EXPECT_EQ(found("10.1.2.4/31"), (Names{"not found"}));
  EXPECT_EQ(found("10.1.2.2/31"), (Names{"eth0"}));
  EXPECT_EQ(found("fd00::/8"), (Names{"eth0"}));
  EXPECT_EQ(found("0.0.0.0/0"), (Names{"eth0", "eth1", "lo"}));
  EXPECT_EQ(found("eth2"), (Names{"not found"}));
  for (const char* wrong : {"10.1.0.0/33", "10.1.0.0/x", "ten/8", "fd00::/129", "/8"})
    EXPECT_EQ(found(wrong), (Names{"invalid"})) << wrong;
  const Status status = DevicesIn("172.16.0.0/12", devices).status();
  EXPECT_NE(status.message().find("there are eth0 10.1.2.3"), std::string::npos)
      << status.message();
}

}  // namespace
}  // namespace lamina::ucx
