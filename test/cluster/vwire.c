/* SPDX-License-Identifier: BSD-3-Clause */
/* vwire - virtual Ethernet cables with delay, jitter, loss, duplication,
 * reordering, rate limit and "unplug", in user space (two TAP devices per
 * cable).  It serves kernels without sch_netem.
 *
 *   vwire -s SOCK [-g] [-m MTU] NAME:TAPA:TAPB ...    run (foreground)
 *   vwire -c SOCK 'set NAME|all [to|from|both] delay=5ms jitter=200us loss=1%
 *                  dup=0.1% reorder=2% rate=100mbit limit=1m cut=0|1'
 *   vwire -c SOCK stats | reset | quit
 *
 * TAPA is put in the bridge, TAPB is moved into the host's network namespace.
 * "to" is A->B (towards the host), "from" is B->A.  -g turns GSO on: frames up
 * to 64 KiB cross the cable as one unit (faster, but loss/rate then act on the
 * big frame).  Without -g every frame is <= MTU.
 *
 * Build: cc -O2 -o vwire vwire.c
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define BUFSZ (65536 + 64)
#define MAXW 256

typedef uint64_t ns_t;
typedef struct pkt {
  struct pkt* next;
  ns_t t;
  uint32_t len;
  unsigned char d[];
} pkt;
typedef struct dir {
  int in, out;
  ns_t delay, jitter, next_free, last;
  double loss, dup, reorder;
  uint64_t rate;  /* bits/s, 0 = no limit */
  uint64_t limit; /* queue bound in bytes, 0 = 16 MiB */
  int cut;
  pkt *head, **tail;
  uint64_t qbytes, n_in, n_out, n_drop, n_over, b_in;
} dir;
typedef struct wire {
  char name[32];
  dir d[2];
} wire; /* d[0]: to, d[1]: from */

static wire W[MAXW];
static int nw;
static uint64_t rng = 88172645463325252ull;

static ns_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (ns_t)t.tv_sec * 1000000000ull + t.tv_nsec;
}
static double rnd(void) {
  rng ^= rng << 13;
  rng ^= rng >> 7;
  rng ^= rng << 17;
  return (rng >> 11) * (1.0 / 9007199254740992.0);
}
static void die(const char* m) {
  perror(m);
  exit(1);
}

static int tap_open(const char* name, int gso) {
  int fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
  struct ifreq r = {0};
  if (fd < 0) die("/dev/net/tun");
  strncpy(r.ifr_name, name, IFNAMSIZ - 1);
  r.ifr_flags = IFF_TAP | IFF_NO_PI | IFF_VNET_HDR;
  if (ioctl(fd, TUNSETIFF, &r) < 0) die(name);
  if (ioctl(fd, TUNSETOFFLOAD, gso ? TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6 | TUN_F_TSO_ECN : 0) < 0)
    die("TUNSETOFFLOAD");
  int sz = 10;
  ioctl(fd, TUNSETVNETHDRSZ, &sz);
  return fd;
}

static void out(dir* d, const unsigned char* b, uint32_t n) {
  if (write(d->out, b, n) < 0)
    d->n_drop++;
  else
    d->n_out++;
}

static void handle(dir* d, unsigned char* b, uint32_t n, ns_t t) {
  uint32_t wirelen = n > 10 ? n - 10 : n;
  d->n_in++;
  d->b_in += wirelen;
  if (d->cut || (d->loss > 0 && rnd() < d->loss)) {
    d->n_drop++;
    return;
  }
  if (d->dup > 0 && rnd() < d->dup) out(d, b, n);
  if (d->reorder > 0 && rnd() < d->reorder) {
    out(d, b, n);
    return;
  }
  if (!d->delay && !d->jitter && !d->rate && !d->head) {
    out(d, b, n);
    return;
  }
  if (d->qbytes + wirelen > (d->limit ? d->limit : (16u << 20))) {
    d->n_over++;
    return;
  }
  ns_t rel = t;
  if (d->rate) {
    if (d->next_free < t) d->next_free = t;
    d->next_free += (ns_t)((double)(wirelen + 24) * 8e9 / (double)d->rate);
    rel = d->next_free;
  }
  rel += d->delay;
  if (d->jitter) {
    int64_t j = (int64_t)((rnd() * 2 - 1) * (double)d->jitter);
    rel = (int64_t)rel + j < (int64_t)t ? t : rel + j;
  }
  if (rel < d->last) rel = d->last; /* FIFO */
  d->last = rel;
  pkt* p = malloc(sizeof *p + n);
  if (!p) {
    d->n_over++;
    return;
  }
  p->next = NULL;
  p->t = rel;
  p->len = n;
  memcpy(p->d, b, n);
  *d->tail = p;
  d->tail = &p->next;
  d->qbytes += wirelen;
}

static void flush_dir(dir* d, ns_t t) {
  while (d->head && d->head->t <= t) {
    pkt* p = d->head;
    d->head = p->next;
    if (!d->head) d->tail = &d->head;
    d->qbytes -= p->len > 10 ? p->len - 10 : p->len;
    if (!d->cut)
      out(d, p->d, p->len);
    else
      d->n_drop++;
    free(p);
  }
}

static double num(const char* s, char** e) { return strtod(s, e); }
static ns_t ptime(const char* s) {
  char* e;
  double v = num(s, &e);
  if (!strcmp(e, "s"))
    v *= 1e9;
  else if (!strcmp(e, "us"))
    v *= 1e3;
  else if (!strcmp(e, "ns"))
    ;
  else
    v *= 1e6;
  return (ns_t)v;
}
static double pfrac(const char* s) {
  char* e;
  double v = num(s, &e);
  return *e == '%' ? v / 100 : v;
}
static uint64_t psize(const char* s) {
  char* e;
  double v = num(s, &e);
  if (*e == 'k' || *e == 'K')
    v *= 1e3;
  else if (*e == 'm' || *e == 'M')
    v *= 1e6;
  else if (*e == 'g' || *e == 'G')
    v *= 1e9;
  return (uint64_t)v;
}

static int command(char* c, char* o, size_t on) {
  char *sv, *w = strtok_r(c, " \n", &sv);
  size_t k = 0;
  *o = 0;
  if (!w) return 0;
  if (!strcmp(w, "quit")) {
    snprintf(o, on, "ok");
    return 1;
  }
  if (!strcmp(w, "stats")) {
    for (int i = 0; i < nw; i++)
      for (int j = 0; j < 2; j++) {
        dir* d = &W[i].d[j];
        k += snprintf(o + k, on - k,
                      "%s %s delay=%lluus jitter=%lluus loss=%g dup=%g reorder=%g rate=%llu cut=%d "
                      "in=%llu bytes=%llu out=%llu drop=%llu overflow=%llu queued=%llu\n",
                      W[i].name, j ? "from" : "to", (unsigned long long)d->delay / 1000,
                      (unsigned long long)d->jitter / 1000, d->loss, d->dup, d->reorder,
                      (unsigned long long)d->rate, d->cut, (unsigned long long)d->n_in,
                      (unsigned long long)d->b_in, (unsigned long long)d->n_out,
                      (unsigned long long)d->n_drop, (unsigned long long)d->n_over,
                      (unsigned long long)d->qbytes);
        if (k >= on) return 0;
      }
    return 0;
  }
  int reset = !strcmp(w, "reset");
  if (!reset && strcmp(w, "set")) {
    snprintf(o, on, "error: unknown command %s", w);
    return 0;
  }
  char* name = strtok_r(NULL, " \n", &sv);
  if (!name) name = (char*)"all";
  int lo = 0, hi = 2, hit = 0;
  char* args[32];
  int na = 0;
  while ((w = strtok_r(NULL, " \n", &sv)) && na < 32) {
    if (!strcmp(w, "to"))
      hi = 1;
    else if (!strcmp(w, "from"))
      lo = 1;
    else if (!strcmp(w, "both")) {
      lo = 0;
      hi = 2;
    } else
      args[na++] = w;
  }
  for (int i = 0; i < nw; i++) {
    if (strcmp(name, "all") && strcmp(name, W[i].name)) continue;
    hit++;
    for (int j = lo; j < hi; j++) {
      dir* d = &W[i].d[j];
      if (reset) {
        d->delay = d->jitter = 0;
        d->loss = d->dup = d->reorder = 0;
        d->rate = d->limit = 0;
        d->cut = 0;
        continue;
      }
      for (int a = 0; a < na; a++) {
        char* v = strchr(args[a], '=');
        if (!v) {
          snprintf(o, on, "error: %s", args[a]);
          return 0;
        }
        size_t kl = v++ - args[a];
#define IS(s) (kl == strlen(s) && !strncmp(args[a], s, kl))
        if (IS("delay"))
          d->delay = ptime(v);
        else if (IS("jitter"))
          d->jitter = ptime(v);
        else if (IS("loss"))
          d->loss = pfrac(v);
        else if (IS("dup"))
          d->dup = pfrac(v);
        else if (IS("reorder"))
          d->reorder = pfrac(v);
        else if (IS("rate"))
          d->rate = psize(v);
        else if (IS("limit"))
          d->limit = psize(v);
        else if (IS("cut"))
          d->cut = atoi(v);
        else {
          snprintf(o, on, "error: unknown parameter %s", args[a]);
          return 0;
        }
      }
    }
  }
  snprintf(o, on, hit ? "ok" : "error: no cable %s", name);
  return 0;
}

static int client(const char* sock, char* msg) {
  int s = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  struct sockaddr_un a = {.sun_family = AF_UNIX}, me = {.sun_family = AF_UNIX};
  char b[65536];
  strncpy(a.sun_path, sock, sizeof a.sun_path - 1);
  if (bind(s, (void*)&me, sizeof(sa_family_t)) < 0) die("bind"); /* autobind */
  if (connect(s, (void*)&a, sizeof a) < 0) die(sock);
  struct timeval tv = {3, 0};
  setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof tv);
  if (send(s, msg, strlen(msg), 0) < 0) die("send");
  ssize_t n = recv(s, b, sizeof b - 1, 0);
  if (n < 0) die("recv");
  b[n] = 0;
  puts(b);
  return !strncmp(b, "error", 5);
}

int main(int argc, char** argv) {
  const char* sock = NULL;
  int gso = 0, o;
  while ((o = getopt(argc, argv, "s:c:gm:")) > 0) switch (o) {
      case 's':
        sock = optarg;
        break;
      case 'g':
        gso = 1;
        break;
      case 'c': {
        char m[4096] = "";
        for (int i = optind; i < argc; i++) {
          strncat(m, argv[i], sizeof m - strlen(m) - 2);
          strcat(m, " ");
        }
        return client(optarg, m);
      }
      case 'm':
        break;
      default:
        return 2;
    }
  if (!sock || optind == argc) {
    fprintf(stderr, "usage: see top of vwire.c\n");
    return 2;
  }
  prctl(PR_SET_TIMERSLACK, 1);
  struct sched_param sp = {.sched_priority = 1};
  sched_setscheduler(0, SCHED_FIFO, &sp); /* keeps delays exact on a busy machine; may fail */
  signal(SIGPIPE, SIG_IGN);
  int ep = epoll_create1(EPOLL_CLOEXEC),
      tf = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
  int cs = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  struct sockaddr_un a = {.sun_family = AF_UNIX};
  for (int i = optind; i < argc && nw < MAXW; i++, nw++) {
    char *s = strdup(argv[i]), *ta = strchr(s, ':'), *tb;
    if (!ta || !(tb = strchr(ta + 1, ':'))) {
      fprintf(stderr, "bad cable %s\n", argv[i]);
      return 2;
    }
    *ta++ = 0;
    *tb++ = 0;
    wire* w = &W[nw];
    strncpy(w->name, s, sizeof w->name - 1);
    int fa = tap_open(ta, gso), fb = tap_open(tb, gso);
    w->d[0].in = fa;
    w->d[0].out = fb;
    w->d[1].in = fb;
    w->d[1].out = fa;
    for (int j = 0; j < 2; j++) {
      w->d[j].tail = &w->d[j].head;
      struct epoll_event e = {EPOLLIN, {.u64 = (uint64_t)nw * 2 + j}};
      epoll_ctl(ep, EPOLL_CTL_ADD, w->d[j].in, &e);
    }
  }
  struct epoll_event e = {EPOLLIN, {.u64 = 1u << 20}};
  epoll_ctl(ep, EPOLL_CTL_ADD, tf, &e);
  e.data.u64 = (1u << 20) + 1;
  epoll_ctl(ep, EPOLL_CTL_ADD, cs, &e);
  strncpy(a.sun_path, sock, sizeof a.sun_path - 1);
  unlink(sock);
  if (bind(cs, (void*)&a, sizeof a) < 0) die(sock); /* bound last: its presence means "ready" */
  static unsigned char b[BUFSZ];
  for (;;) {
    struct epoll_event ev[64];
    int n = epoll_wait(ep, ev, 64, -1);
    for (int i = 0; i < n; i++) {
      uint64_t id = ev[i].data.u64;
      if (id == 1u << 20) {
        uint64_t x;
        if (read(tf, &x, 8) < 0) {
        }
        continue;
      }
      if (id == (1u << 20) + 1) {
        struct sockaddr_un from;
        socklen_t fl = sizeof from;
        static char m[4096], r[65536];
        ssize_t l = recvfrom(cs, m, sizeof m - 1, 0, (void*)&from, &fl);
        if (l <= 0) continue;
        m[l] = 0;
        int q = command(m, r, sizeof r);
        sendto(cs, r, strlen(r), 0, (void*)&from, fl);
        if (q) {
          unlink(sock);
          return 0;
        }
        continue;
      }
      dir* d = &W[id / 2].d[id % 2];
      for (int k = 0; k < 64; k++) {
        ssize_t l = read(d->in, b, sizeof b);
        if (l <= 0) break;
        handle(d, b, (uint32_t)l, now());
      }
    }
    ns_t t = now(), first = 0;
    for (int i = 0; i < nw; i++)
      for (int j = 0; j < 2; j++) {
        dir* d = &W[i].d[j];
        if (d->head && d->head->t <= t) flush_dir(d, t);
        if (d->head && (!first || d->head->t < first)) first = d->head->t;
      }
    struct itimerspec its = {.it_value = {first / 1000000000ull, first % 1000000000ull}};
    timerfd_settime(tf, TFD_TIMER_ABSTIME, &its, NULL); /* 0 disarms */
  }
}
