// SPDX-License-Identifier: BSD-3-Clause
// This is what one rank of `lamina tune` does. The launcher is not linked with the MPI library, so
// its functions are looked up.
//
// Two ranks of one node measure the link within a node, two of different nodes the one between
// nodes; the others wait meanwhile. Each figure is the best of many batches: what disturbs a
// measurement only makes it longer. A batch is much shorter than a time slice, so that on a busy
// machine some go undisturbed.
#include <dlfcn.h>
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <vector>

#include "launcher/tune/tune.h"

namespace lamina::launcher {
namespace {

constexpr int kBatches = 200;
constexpr int kTrials = 10;
constexpr double kBatchUs = 200;  // about as long as one takes
constexpr int kShortBytes = 8;
constexpr int kLongBytes = 1 << 20;
constexpr int kBurst = 64;
constexpr int kTag = 1;

struct Mpi {
  decltype(&MPI_Init) init;
  decltype(&MPI_Finalize) finalize;
  decltype(&MPI_Comm_rank) comm_rank;
  decltype(&MPI_Comm_size) comm_size;
  decltype(&MPI_Comm_split_type) comm_split_type;
  decltype(&MPI_Comm_free) comm_free;
  decltype(&MPI_Bcast) bcast;
  decltype(&MPI_Allgather) allgather;
  decltype(&MPI_Barrier) barrier;
  decltype(&MPI_Send) send;
  decltype(&MPI_Recv) recv;
  decltype(&MPI_Reduce_local) reduce_local;
  decltype(&MPI_Wtime) wtime;
};

template <class Function>
bool Find(void* library, const char* name, Function* function) {
  *function = reinterpret_cast<Function>(dlsym(library, name));
  return *function != nullptr;
}

bool Load(const std::string& path, Mpi* mpi) {
  void* library = path.empty() ? nullptr : dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  return library != nullptr && Find(library, "MPI_Init", &mpi->init) &&
         Find(library, "MPI_Finalize", &mpi->finalize) &&
         Find(library, "MPI_Comm_rank", &mpi->comm_rank) &&
         Find(library, "MPI_Comm_size", &mpi->comm_size) &&
         Find(library, "MPI_Comm_split_type", &mpi->comm_split_type) &&
         Find(library, "MPI_Comm_free", &mpi->comm_free) &&
         Find(library, "MPI_Bcast", &mpi->bcast) &&
         Find(library, "MPI_Allgather", &mpi->allgather) &&
         Find(library, "MPI_Barrier", &mpi->barrier) && Find(library, "MPI_Send", &mpi->send) &&
         Find(library, "MPI_Recv", &mpi->recv) &&
         Find(library, "MPI_Reduce_local", &mpi->reduce_local) &&
         Find(library, "MPI_Wtime", &mpi->wtime);
}

class Rank {
 public:
  explicit Rank(const Mpi& mpi) : mpi_(mpi), buffer_(kLongBytes) {
    mpi_.comm_rank(MPI_COMM_WORLD, &rank_);
    mpi_.comm_size(MPI_COMM_WORLD, &size_);
    ListNodes();
  }

  int size() const { return size_; }

  void MeasureAll() {
    Link(PartnerOn(true), "");
    Link(PartnerOn(false), "network.");
    if (rank_ == 0) Reduction();
    mpi_.barrier(MPI_COMM_WORLD);
  }

 private:
  // Sets nodes_[r] to the lowest rank on rank r's node.
  void ListNodes() {
    MPI_Comm node = MPI_COMM_NULL;
    mpi_.comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &node);
    int lowest = rank_;
    mpi_.bcast(&lowest, 1, MPI_INT, 0, node);
    mpi_.comm_free(&node);
    nodes_.resize(static_cast<std::size_t>(size_));
    mpi_.allgather(&lowest, 1, MPI_INT, nodes_.data(), 1, MPI_INT, MPI_COMM_WORLD);
  }

  // Returns the first rank beside rank 0 that is on its node, or is not; -1 if there is none.
  int PartnerOn(bool same_node) const {
    for (int other = 1; other < size_; ++other)
      if ((nodes_[static_cast<std::size_t>(other)] == nodes_[0]) == same_node) return other;
    return -1;
  }

  void Send(int to, int bytes) {
    mpi_.send(buffer_.data(), bytes, MPI_BYTE, to, kTag, MPI_COMM_WORLD);
  }
  void Receive(int from, int bytes) {
    mpi_.recv(buffer_.data(), bytes, MPI_BYTE, from, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }

  // Sends `burst` messages one way, `times` times. They are answered by an empty one or, if `burst`
  // is one, by a message alike. Returns the microseconds for each at rank 0.
  double BatchUs(int partner, int bytes, int burst, int times) {
    const double begin = mpi_.wtime();
    for (int i = 0; i < times; ++i) {
      for (int k = 0; k < burst; ++k) rank_ == 0 ? Send(partner, bytes) : Receive(0, bytes);
      const int answer = burst > 1 ? 0 : bytes;
      rank_ == 0 ? Receive(partner, answer) : Send(0, answer);
    }
    return (mpi_.wtime() - begin) * 1e6 / times;
  }

  double BestOfUs(int batches, int partner, int bytes, int burst, int times) {
    double best = 1e300;
    for (int batch = 0; batch < batches; ++batch)
      best = std::min(best, BatchUs(partner, bytes, burst, times));
    return best;
  }

  // Rank 0 says how long the batches are, after some trials.
  double BestUs(int partner, int bytes, int burst) {
    const double trial = BestOfUs(kTrials, partner, bytes, burst, 3);
    int times = std::clamp(static_cast<int>(kBatchUs / trial), 1, 2000);
    if (rank_ == 0)
      mpi_.send(&times, 1, MPI_INT, partner, kTag, MPI_COMM_WORLD);
    else
      mpi_.recv(&times, 1, MPI_INT, 0, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return BestOfUs(kBatches, partner, bytes, burst, times);
  }

  void Link(int partner, const char* level) {
    if (partner > 0 && (rank_ == 0 || rank_ == partner)) {
      const double alpha = BestUs(partner, kShortBytes, 1) / 2;
      const double burst = BestUs(partner, kShortBytes, kBurst);
      const double whole = BestUs(partner, kLongBytes, 1) / 2;
      if (rank_ == 0) {
        Say(level, "alpha_us", alpha);
        Say(level, "overhead_us", (burst - 2 * alpha) / (kBurst - 1));
        Say(level, "beta_ns_per_kbyte", (whole - alpha) * 1e3 / (kLongBytes / 1024));
      }
    }
    mpi_.barrier(MPI_COMM_WORLD);
  }

  void Reduction() {
    constexpr int kCount = (256 << 10) / sizeof(double);
    std::vector<double> left(kCount, 1.0);
    std::vector<double> right(kCount, 2.0);
    double best = 1e300;
    for (int batch = 0; batch < kBatches; ++batch) {
      const double begin = mpi_.wtime();
      mpi_.reduce_local(left.data(), right.data(), kCount, MPI_DOUBLE, MPI_SUM);
      best = std::min(best, mpi_.wtime() - begin);
    }
    Say("", "gamma_ns_per_kbyte", best * 1e9 / 256);
  }

  static void Say(const char* level, const char* name, double value) {
    if (value > 0)
      printf("collective.select.%s%s %.4f\n", level, name, value);
    else
      fprintf(stderr, "lamina tune: collective.select.%s%s drowned in noise and stays as it is\n",
              level, name);
  }

  const Mpi& mpi_;
  std::vector<char> buffer_;
  int rank_ = 0;
  int size_ = 1;
  std::vector<int> nodes_;
};

}  // namespace

int RunTuneRank(const std::string& library) {
  Mpi mpi{};
  if (!Load(library, &mpi)) {
    fprintf(stderr, "lamina tune: cannot use the MPI library beside this program: %s\n",
            library.empty() ? "there is none" : library.c_str());
    return 1;
  }
  mpi.init(nullptr, nullptr);
  int status = 0;
  {
    Rank rank(mpi);
    if (rank.size() < 2) {
      fprintf(stderr, "lamina tune: messages need two ranks: lamina tune -n 2\n");
      status = 2;
    } else {
      rank.MeasureAll();
    }
  }
  fflush(stdout);
  mpi.finalize();
  return status;
}

}  // namespace lamina::launcher
