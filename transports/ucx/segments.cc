// SPDX-License-Identifier: BSD-3-Clause
#include "transports/ucx/segments.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include "transports/ucx/tuning.h"

namespace lamina::ucx {

std::uint64_t ReceiveBytes(const Params& params, std::uint32_t job_ranks, std::uint32_t local_ranks,
                           std::string_view congestion_control) {
  const std::uint64_t segment = params.tcp_segment_bytes;
  if (congestion_control.starts_with("bbr") && local_ranks < job_ranks) return segment;
  const std::uint64_t share = kReceiveBytesOfAll / std::max(job_ranks, 1u);
  return std::max(segment, std::min<std::uint64_t>(share, params.tcp_receive_bytes));
}

std::string CongestionControl() {
  const int file = open("/proc/sys/net/ipv4/tcp_congestion_control", O_RDONLY | O_CLOEXEC);
  if (file < 0) return "";
  char name[32];
  const ssize_t got = read(file, name, sizeof name);
  close(file);
  std::string told(name, static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  return told.substr(0, told.find('\n'));
}

}  // namespace lamina::ucx
