// SPDX-License-Identifier: BSD-3-Clause
// Describes a job in the words of PMIx: what every rank may ask about itself, its peers and the
// whole.
#pragma once

#include <pmix.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "launcher/plan/plan.h"

namespace lamina::launcher::pmix {

// An array of pmix_info_t that owns what its entries point to.
class InfoList {
 public:
  InfoList() = default;
  InfoList(const InfoList&) = delete;
  InfoList& operator=(const InfoList&) = delete;
  ~InfoList() {
    for (pmix_info_t& info : infos_) PMIX_INFO_DESTRUCT(&info);
  }
  void Add(const char* key, const void* value, pmix_data_type_t type) {
    pmix_info_t info;
    PMIX_INFO_CONSTRUCT(&info);
    PMIX_INFO_LOAD(&info, key, value, type);
    infos_.push_back(info);
  }
  void AddUint32(const char* key, std::uint32_t value) { Add(key, &value, PMIX_UINT32); }
  void AddText(const char* key, const std::string& value) { Add(key, value.c_str(), PMIX_STRING); }
  pmix_info_t* data() { return infos_.data(); }
  std::size_t size() const { return infos_.size(); }

 private:
  std::vector<pmix_info_t> infos_;
};

// Returns what MPI_UNIVERSE_SIZE says.
std::uint32_t UniverseRanks(const Plan& plan);

// Adds node and process maps, sizes, and for each rank its place, as told to ranks on `host`.
// `name` is the namespace.
void DescribeJob(const Plan& plan, const std::string& name, std::uint32_t host, InfoList* job);

}  // namespace lamina::launcher::pmix
