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
  const Names names = AddressedDevices();
  EXPECT_NE(std::find(names.begin(), names.end(), "lo"), names.end());
}

}  // namespace
}  // namespace lamina::ucx
