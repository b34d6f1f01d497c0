// SPDX-License-Identifier: BSD-3-Clause
// Holds what launcher and shepherd say to each other, as values. The byte tables are in the README.
//
// Pure. Encode() never fails; Decode functions are kInvalid for anything that is not exactly such a
// message.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "launcher/plan/plan.h"
#include "launcher/usage/usage.h"
#include "runtime/base/sharing.h"
#include "runtime/base/status.h"

namespace lamina::launcher::wire {

// The shepherd's first words. The first two fields stay where they are in every version.
struct Hello {
  std::uint16_t wire_version = 0;
  std::string version;  // of Lamina
  std::string host;     // what the kernel there calls it
  std::string hint;     // LAMINA_SHEPHERD_HOST, or SLURM_NODEID with '#' in front; "": none
  std::uint64_t process = 0;
};
std::string Encode(const Hello& hello);
Result<Hello> DecodeHello(std::string_view payload);

// One rank of the shepherd's own node.
struct RankOrder {
  std::uint32_t rank = 0;
  std::string cpuset;
  bool reads_input = false;
  std::vector<std::string> own_environment;
};

// How shepherds start others.
struct StartRules {
  std::uint32_t width = 0;     // at most so many children each; 0: as many as there are hosts
  std::uint32_t window = 1;    // hosts that are being reached at the same time
  std::uint32_t attempts = 1;  // per host
  std::uint64_t start_ms = 0;  // from the start of an agent to the greeting
  // An agent that ends before any greeting and has said one of these is worth another attempt.
  std::vector<std::string> passing_signs;
  // The same holds for these if the agent said so at once.
  std::vector<std::string> quick_signs;

  friend bool operator==(const StartRules&, const StartRules&) = default;
};

// A host further down the tree, and the command that brings a shepherd to life there.
struct Below {
  std::uint32_t host = 0;
  std::vector<std::string> command;

  friend bool operator==(const Below&, const Below&) = default;
};

// How the ranks of a job are saved from outside.
struct SavingOrders {
  std::string engine;              // "": not at all
  std::string directory;           // of the generations; every node has it
  std::uint32_t revived = 0;       // the generation whose ranks are revived; 0: they are started
  std::string revived_in;          // the directory in which that lies
  std::uint32_t last_process = 0;  // the highest process id of the job so far
  bool secluded = false;           // ranks are saved in namespaces of their own
  bool apart = false;              // its images lie in the directories of several nodes
  std::string mark;                // a name by which nodes find out who shares the directory

  friend bool operator==(const SavingOrders&, const SavingOrders&) = default;
};

// Everything a shepherd has to know to start its ranks, and those below it theirs.
struct Orders {
  std::uint32_t host = 0;        // its own index in plan.hosts
  std::string job;               // the PMIx namespace
  std::string directory;         // the launcher's; where an App::wdir is relative to
  std::uint64_t silence_ms = 0;  // how long a silent launcher is believed to be alive; 0: for ever
  std::uint64_t open_files_max = 0;
  bool profiled = false;          // the ranks count what they do in MPI
  std::uint64_t trace_bytes = 0;  // for what each rank records; 0: nothing
  bool trace_keeps_first = false;
  bool held = false;  // the ranks stop before their first instruction, until SIGCONT
  StartRules rules;
  Plan plan;  // hosts by name, apps with complete environments, all ranks' places
  std::vector<RankOrder> ranks;  // its own and those of the hosts below
  std::vector<Below> below;
  SavingOrders saving;
};
std::string Encode(const Orders& orders);
Result<Orders> DecodeOrders(std::string_view payload);

// The end of a rank, with what is worth knowing of its event ring.
struct Ended {
  std::uint32_t rank = 0;
  std::uint8_t kind = 0;  // RankEvent::Kind
  std::int32_t code = 0;
  std::int32_t signal = 0;
  std::uint64_t process = 0;
  std::string why;
  std::string ring_head;            // the first bytes of the ring, as they are; see ring_copy.h
  std::vector<std::string> events;  // slots of the ring, oldest first, as they are
  std::string profile;              // as CopyProfile() returns it; "": it was not counted
};
// Several travel at a time, because they gather on their way.
std::string Encode(const std::vector<Ended>& ends);
Result<std::vector<Ended>> DecodeEnds(std::string_view payload);

// A rank has been started, as that process of its host.
struct Started {
  std::uint32_t rank = 0;
  std::uint64_t process = 0;
  friend bool operator==(const Started&, const Started&) = default;
};
std::string Encode(const std::vector<Started>& started);
Result<std::vector<Started>> DecodeStarted(std::string_view payload);

// What a rank has recorded, as Encode(TraceCopy) returns it, or counted, as CopyProfile() does.
struct TracePiece {
  std::uint32_t rank = 0;
  std::string_view bytes;  // borrowed
};
std::string Encode(const TracePiece& piece);
Result<TracePiece> DecodeTracePiece(std::string_view payload);

// What ranks use of their host.
std::string Encode(const std::vector<RankUsage>& usage);
Result<std::vector<RankUsage>> DecodeUsage(std::string_view payload);

// Hosts that the sender answers for no longer.
struct Gone {
  bool lost = false;  // they had been reached; false: not reached, and given back to be tried by
                      // others
  std::vector<std::uint32_t> hosts;
  std::string why;
};
std::string Encode(const Gone& gone);
Result<Gone> DecodeGone(std::string_view payload);

// The sender and all below it can start their ranks. `sharing_host` is one of these hosts that has
// fewer CPUs than ranks, which nobody knew before its shepherd looked.
struct Ready {
  static constexpr std::uint32_t kNone = 0xffffffff;
  std::uint32_t sharing_host = kNone;
  std::string why;  // the CPUs there: "2 allowed of 2"
};
std::string Encode(const Ready& ready);
Result<Ready> DecodeReady(std::string_view payload);

// All are ready, so the ranks start, and are told whether ranks share CPUs on any host of the job.
struct Start {
  Sharing sharing = Sharing::kExclusive;
};
std::string Encode(const Start& start);
Result<Start> DecodeStart(std::string_view payload);

// A piece of a rank's input (stream 0) or output (1, 2). An empty one is its end.
struct Piece {
  std::uint32_t rank = 0;
  std::uint8_t stream = 0;
  std::string_view bytes;  // borrowed
};
std::string Encode(const Piece& piece);
Result<Piece> DecodePiece(std::string_view payload);

// `bytes` more of a stream may be sent, or (kGone) nobody takes it any more.
struct Credit {
  static constexpr std::uint32_t kGone = 0xffffffff;
  std::uint32_t rank = 0;
  std::uint8_t stream = 0;
  std::uint32_t bytes = 0;
};
std::string Encode(const Credit& credit);
Result<Credit> DecodeCredit(std::string_view payload);

struct SignalOrder {
  std::uint32_t signal = 0;
  std::vector<std::uint32_t> ranks;
};
std::string Encode(const SignalOrder& order);
Result<SignalOrder> DecodeSignal(std::string_view payload);

// A sign of life; a shepherd's has the heads of those rings that have changed.
struct Beat {
  struct Head {
    std::uint32_t rank = 0;
    std::string ring_head;
  };
  std::vector<Head> heads;
};
std::string Encode(const Beat& beat);
Result<Beat> DecodeBeat(std::string_view payload);

// Asks whether the shepherd of this host is there, which sends the same back.
struct Ping {
  std::uint32_t host = 0;
  std::uint64_t sent_ns = 0;   // by the clock of the one that asks
  bool usage = false;          // the usage of its ranks comes before the answer
  std::uint64_t clock_ns = 0;  // of the one that answers
};
std::string Encode(const Ping& ping);
Result<Ping> DecodePing(std::string_view payload);

// What a guest at the door of a host's shepherd says to the launcher, and the answer. Nothing said
// is the end of the visit.
struct Visit {
  std::uint32_t host = 0;
  std::uint64_t guest = 0;  // a number that is used once on this host
  std::string_view bytes;   // borrowed
};
std::string Encode(const Visit& visit);
Result<Visit> DecodeVisit(std::string_view payload);

// What is said about saving a rank, to its node and back.
struct SavingWord {
  enum class Kind : std::uint8_t {
    kAgent,    // both ways: `bytes` of what launcher and agent say to each other
    kGoOn,     // to the node: the rank is revived or saved, and `bytes` is for its agent
    kSave,     // to the node: into the folder `bytes`
    kSaved,    // to the launcher: `bytes` says why it could not be; "": it is
    kRevived,  // to the launcher
    kStore,    // both ways: `bytes` are a StoreWord, of the node's directory and no rank
  };
  std::uint32_t rank = 0;
  Kind kind = Kind::kAgent;
  std::string bytes;
  // With kSaved: the rank's process id as it knows it, the highest one of its node so far, what its
  // pipes are called, and how much of standard input it has read in this job.
  std::uint64_t process = 0;
  std::uint32_t last_process = 0;
  std::vector<std::string> links;
  std::uint64_t input_bytes = 0;

  friend bool operator==(const SavingWord&, const SavingWord&) = default;
};
std::string Encode(const SavingWord& word);
Result<SavingWord> DecodeSavingWord(std::string_view payload);

// What is said about a node's directory of generations.
struct StoreWord {
  enum class Kind : std::uint8_t {
    kHere,     // to the launcher: `host` has marked the node's directory first, or `bytes` says
               // why the node has none
    kDone,     // to the launcher: the answer to what follows; `bytes` says why it could not be done
    kBegin,    // `generation` is begun, with folders for `ranks`
    kMeasure,  // the files of the image of `rank`, which are answered, are written to the disk
    kKeep,     // as are manifest (`bytes`) and `plan`, after the images of `ranks` were compared
    kCommit,   // the generation is made valid
    kForward,  // the images of `ranks` are copied into it in the directory `text`
    kDrop,     // or is given up; unanswered
    kLook,     // the manifest `bytes` is that of `generation`; answered are `ranks` with images
    kComplete,  // unanswered: all images that this node needs are there
    kFetch,     // `generation` with manifest `bytes` and plan `text` gets a folder for images
    kSend,   // the image of `rank` is sent to the node of rank `to`, which answers as to kMeasure
    kPiece,  // from node to node by way of the launcher: `bytes` of a file of that image, `at`
             // which they stand; no bytes: its length; no name: these were all files
    kTaken,  // back: so many bytes (`at`) have been written
  };
  struct File {
    std::string name;
    std::uint64_t bytes = 0;
    std::uint32_t checksum = 0;
    friend bool operator==(const File&, const File&) = default;
  };
  static constexpr std::uint32_t kLauncher = 0xffffffff;
  Kind kind = Kind::kHere;
  std::uint32_t host = 0;
  std::uint32_t generation = 0;
  std::uint32_t rank = 0;
  std::vector<std::uint32_t> ranks;
  std::vector<File> files;
  std::uint32_t to = 0;  // in what arrives: where it comes from
  std::string name;
  std::uint64_t at = 0;
  std::string text;  // the plan; in an answer: what is to be told
  std::string bytes;

  friend bool operator==(const StoreWord&, const StoreWord&) = default;
};
std::string Encode(const StoreWord& word);
Result<StoreWord> DecodeStoreWord(std::string_view payload);

// Does `action` with a message that was decoded; returns the status of one that could not be.
template <class Message, class Action>
Status With(Result<Message> message, Action action) {
  if (!message.ok()) return std::move(message).status();
  action(*message);
  return {};
}

}  // namespace lamina::launcher::wire
