// SPDX-License-Identifier: BSD-3-Clause
// Heat spreading through a plate, in parallel: the smallest program that is still a real one.
//
// The picture is cut into a grid of blocks, one a rank. Every step a rank sends the border of its
// block to its four neighbours, works on its inside while the borders travel, and then does its
// own border. The plate's edge is insulated, so the heat in it must not change.
//
// Plain MPI, nothing of this library: it runs on any MPI, with any number of ranks, and gives the
// same bits on all of them.
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "cell.h"
#include "options.h"
#include "picture.h"

namespace heat2d {
namespace {

// Where the blocks lie: `columns` x `rows` ranks over a field of width x height cells.
struct Grid {
  int columns = 1;
  int rows = 1;
  long width = 0;
  long height = 0;

  // The first cell of block `index` when `cells` are shared by `blocks`; the last + 1 of index - 1.
  static long Begin(long cells, int blocks, int index) { return cells * index / blocks; }
};

// The grid with the shortest inner borders. False: no grid gives every rank a cell.
bool ChooseGrid(int ranks, long width, long height, Grid* grid) {
  long shortest = -1;
  for (int columns = 1; columns <= ranks; ++columns) {
    const int rows = ranks / columns;
    if (rows * columns != ranks || columns > width || rows > height) continue;
    const long border = (columns - 1) * height + (rows - 1) * width;
    if (shortest < 0 || border < shortest) {
      shortest = border;
      *grid = {columns, rows, width, height};
    }
  }
  return shortest >= 0;
}

// One rank's part of the field, with a ring of ghost cells around it.
class Block {
 public:
  Block(const Grid& grid, int rank)
      : grid_(grid), column_(rank % grid.columns), row_(rank / grid.columns) {
    left_ = Grid::Begin(grid.width, grid.columns, column_);
    top_ = Grid::Begin(grid.height, grid.rows, row_);
    width_ = Grid::Begin(grid.width, grid.columns, column_ + 1) - left_;
    height_ = Grid::Begin(grid.height, grid.rows, row_ + 1) - top_;
    now_.resize(static_cast<std::size_t>((width_ + 2) * (height_ + 2)));
    next_ = now_;
    for (auto& buffer : sent_) buffer.resize(static_cast<std::size_t>(std::max(width_, height_)));
    received_ = sent_;
  }

  long width() const { return width_; }
  long height() const { return height_; }
  long left() const { return left_; }
  long top() const { return top_; }
  double& At(long x, long y) { return now_[Index(x, y)]; }

  // One step in time; returns the largest change of a cell of this block.
  double Step() {
    std::array<MPI_Request, 8> requests;
    StartExchange(requests);
    double change = Update(1, width_ - 1, 1, height_ - 1);
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    FillGhosts();
    // The border of the block: top and bottom rows, then what is left of the side columns.
    change = std::max(change, Update(0, width_, 0, 1));
    if (height_ > 1) change = std::max(change, Update(0, width_, height_ - 1, height_));
    change = std::max(change, Update(0, 1, 1, height_ - 1));
    if (width_ > 1) change = std::max(change, Update(width_ - 1, width_, 1, height_ - 1));
    now_.swap(next_);
    return change;
  }

 private:
  enum Side { kNorth, kSouth, kWest, kEast, kSides };

  std::size_t Index(long x, long y) const {
    return static_cast<std::size_t>((y + 1) * (width_ + 2) + (x + 1));
  }

  // The rank beyond a side, or MPI_PROC_NULL beyond the edge of the plate.
  int Neighbour(Side side) const {
    const int column = column_ + (side == kEast) - (side == kWest);
    const int row = row_ + (side == kSouth) - (side == kNorth);
    const bool inside = column >= 0 && column < grid_.columns && row >= 0 && row < grid_.rows;
    return inside ? row * grid_.columns + column : MPI_PROC_NULL;
  }

  long SideCells(Side side) const { return side == kNorth || side == kSouth ? width_ : height_; }

  // Cell `i` of the border along `side`, `out` cells beyond it (0: the border, 1: the ghost).
  double& SideCell(Side side, long i, long out) {
    switch (side) {
      case kNorth:
        return now_[Index(i, -out)];
      case kSouth:
        return now_[Index(i, height_ - 1 + out)];
      case kWest:
        return now_[Index(-out, i)];
      default:
        return now_[Index(width_ - 1 + out, i)];
    }
  }

  void StartExchange(std::array<MPI_Request, 8>& requests) {
    for (int s = 0; s < kSides; ++s) {
      const Side side = static_cast<Side>(s);
      const int cells = static_cast<int>(SideCells(side));
      // A message is tagged with the side it leaves by: what comes from the north left southward.
      MPI_Irecv(received_[s].data(), cells, MPI_DOUBLE, Neighbour(side), s ^ 1, MPI_COMM_WORLD,
                &requests[s]);
    }
    for (int s = 0; s < kSides; ++s) {
      const Side side = static_cast<Side>(s);
      const long cells = SideCells(side);
      for (long i = 0; i < cells; ++i) sent_[s][i] = SideCell(side, i, 0);
      MPI_Isend(sent_[s].data(), static_cast<int>(cells), MPI_DOUBLE, Neighbour(side), s,
                MPI_COMM_WORLD, &requests[kSides + s]);
    }
  }

  // An insulated edge is a mirror: the ghost equals the cell before it.
  void FillGhosts() {
    for (int s = 0; s < kSides; ++s) {
      const Side side = static_cast<Side>(s);
      const bool mirror = Neighbour(side) == MPI_PROC_NULL;
      for (long i = 0; i < SideCells(side); ++i) {
        SideCell(side, i, 1) = mirror ? SideCell(side, i, 0) : received_[s][i];
      }
    }
  }

  double Update(long x_begin, long x_end, long y_begin, long y_end) {
    double change = 0;
    const std::size_t line = static_cast<std::size_t>(width_ + 2);
    for (long y = y_begin; y < y_end; ++y) {
      for (long x = x_begin; x < x_end; ++x) {
        const std::size_t i = Index(x, y);
        next_[i] = NextValue(now_[i], now_[i - line], now_[i + line], now_[i - 1], now_[i + 1]);
        change = std::max(change, std::fabs(next_[i] - now_[i]));
      }
    }
    return change;
  }

  Grid grid_;
  int column_, row_;
  long left_, top_, width_, height_;
  std::vector<double> now_, next_;
  std::array<std::vector<double>, kSides> sent_, received_;
};

// How the picture travels between rank 0 and the blocks: every block's cells in a row, by rank.
struct Parcels {
  Parcels(const Grid& grid, int ranks) {
    int begin = 0;
    for (int rank = 0; rank < ranks; ++rank) {
      const Block block(grid, rank);
      counts.push_back(static_cast<int>(block.width() * block.height()));
      begins.push_back(begin);
      begin += counts.back();
      for (long y = 0; y < block.height(); ++y) {
        for (long x = 0; x < block.width(); ++x) {
          cells.push_back((block.top() + y) * grid.width + block.left() + x);
        }
      }
    }
  }
  std::vector<int> counts, begins;
  std::vector<long> cells;  // parcel position -> index in the picture
};

void Scatter(const Picture& picture, const Parcels& parcels, int rank, Block* block) {
  std::vector<double> all, mine(static_cast<std::size_t>(block->width() * block->height()));
  if (rank == 0) {
    for (long cell : parcels.cells) all.push_back(picture.values[static_cast<std::size_t>(cell)]);
  }
  MPI_Scatterv(all.data(), parcels.counts.data(), parcels.begins.data(), MPI_DOUBLE, mine.data(),
               static_cast<int>(mine.size()), MPI_DOUBLE, 0, MPI_COMM_WORLD);
  for (long y = 0; y < block->height(); ++y) {
    for (long x = 0; x < block->width(); ++x) {
      block->At(x, y) = mine[static_cast<std::size_t>(y * block->width() + x)];
    }
  }
}

void Gather(Block* block, const Parcels& parcels, int rank, Picture* picture) {
  std::vector<double> all(rank == 0 ? parcels.cells.size() : 0), mine;
  for (long y = 0; y < block->height(); ++y) {
    for (long x = 0; x < block->width(); ++x) mine.push_back(block->At(x, y));
  }
  MPI_Gatherv(mine.data(), static_cast<int>(mine.size()), MPI_DOUBLE, all.data(),
              parcels.counts.data(), parcels.begins.data(), MPI_DOUBLE, 0, MPI_COMM_WORLD);
  for (std::size_t i = 0; i < all.size(); ++i) {
    picture->values[static_cast<std::size_t>(parcels.cells[i])] = all[i];
  }
}

double TotalHeat(Block* block) {
  double mine = 0, all = 0;
  for (long y = 0; y < block->height(); ++y) {
    for (long x = 0; x < block->width(); ++x) mine += block->At(x, y);
  }
  MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

std::uint64_t Checksum(Block* block, long picture_width) {
  std::uint64_t mine = 0, all = 0;
  for (long y = 0; y < block->height(); ++y) {
    for (long x = 0; x < block->width(); ++x) {
      const long index = (block->top() + y) * picture_width + block->left() + x;
      mine += CellHash(static_cast<std::uint64_t>(index), block->At(x, y));
    }
  }
  MPI_Allreduce(&mine, &all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

// Steps until done; returns how many. `report` prints progress (rank 0 only).
long Simulate(const Options& options, bool report, Block* block) {
  const double start_s = MPI_Wtime();
  const long report_steps = std::max(1L, options.steps / 10);
  for (long step = 1; step <= options.steps; ++step) {
    const bool shown = report && (step % report_steps == 0 || step == options.steps);
    const double mine = block->Step();
    double change = 0;
    MPI_Allreduce(&mine, &change, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (shown) {
      std::printf("step %6ld of %ld, largest change %.6f, %.2f s\n", step, options.steps, change,
                  MPI_Wtime() - start_s);
      std::fflush(stdout);
    }
    if (change < options.tolerance) return step;
  }
  return options.steps;
}

// Rank 0 tells everybody whether things are well; all return the same.
bool AllGood(int rank, const std::string& problem) {
  int good = problem.empty() ? 1 : 0;
  if (rank == 0 && good == 0) std::fprintf(stderr, "heat2d: %s\n", problem.c_str());
  MPI_Bcast(&good, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return good != 0;
}

int Run(const Options& options, int rank, int ranks) {
  Picture picture;
  std::string problem;
  const std::string input = options.input.empty() ? DefaultInput() : options.input;
  if (rank == 0) ReadPicture(input, &picture, &problem);
  if (!AllGood(rank, problem)) return 1;

  std::array<long, 2> size = {static_cast<long>(picture.width), static_cast<long>(picture.height)};
  MPI_Bcast(size.data(), 2, MPI_LONG, 0, MPI_COMM_WORLD);
  Grid grid;
  if (!ChooseGrid(ranks, size[0], size[1], &grid)) problem = "more ranks than the picture can feed";
  if (!AllGood(rank, problem)) return 1;
  if (rank == 0) {
    std::printf("heat2d: %ld x %ld cells of %s on %d ranks as %d x %d blocks\n", size[0], size[1],
                input.c_str(), ranks, grid.columns, grid.rows);
    if (!options.quiet) std::fputs(Sketch(picture, 64).c_str(), stdout);
    std::fflush(stdout);
  }

  Block block(grid, rank);
  const Parcels parcels(grid, ranks);
  Scatter(picture, parcels, rank, &block);
  const double heat_before = TotalHeat(&block);
  const double start_s = MPI_Wtime();
  const long steps = Simulate(options, rank == 0 && !options.quiet, &block);
  const double took_s = MPI_Wtime() - start_s;
  const double heat_after = TotalHeat(&block);
  const std::uint64_t checksum = Checksum(&block, grid.width);
  Gather(&block, parcels, rank, &picture);

  if (rank == 0) {
    if (!options.quiet) std::fputs(Sketch(picture, 64).c_str(), stdout);
    if (WriteGrey(options.output + ".pgm", picture, &problem) &&
        WriteHeat(options.output + ".ppm", picture, &problem)) {
      std::printf("wrote %s.ppm (colour) and %s.pgm (grey)\n", options.output.c_str(),
                  options.output.c_str());
    }
    std::printf("%ld steps in %.3f s, heat %.6e before and %.6e after\n", steps, took_s,
                heat_before, heat_after);
    std::printf("checksum %016llx\n", static_cast<unsigned long long>(checksum));
    std::fflush(stdout);
    // Rounding moves the sum in its last digits; a lost or doubled border moves it visibly.
    if (std::fabs(heat_after - heat_before) > 1e-9 * std::fabs(heat_before)) {
      problem = "heat was lost or made: an exchange went wrong";
    }
  }
  return AllGood(rank, problem) ? 0 : 1;
}

}  // namespace
}  // namespace heat2d

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);

  heat2d::Options options;
  std::string problem;
  int status = 0;
  if (argc == 2 && std::string(argv[1]) == "--help") {
    if (rank == 0) std::fputs(heat2d::kUsage, stdout);
  } else if (!heat2d::ParseOptions(argc, argv, &options, &problem)) {
    if (rank == 0) std::fprintf(stderr, "heat2d: %s\n%s", problem.c_str(), heat2d::kUsage);
    status = 2;
  } else {
    status = heat2d::Run(options, rank, ranks);
  }
  MPI_Finalize();
  return status;
}
