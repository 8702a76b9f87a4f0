/* Loaded before libc (LD_PRELOAD): makes the k-th call of a kind fail, so that a test need not wait for a full disk.
 *
 *   BERTH_FAULT=CALL:K:WHAT[:FOR]   CALL: read, write, fsync, rename, close, open (to write), mkdir, unlink; change: each
 *                                   that a read-only folder refuses (open, rename, mkdir, unlink); any: each; K from 1;
 *                                   WHAT: ENOSPC, EIO, EDQUOT, EROFS, EINTR, short (read, write: one byte of it), KILL
 *                                   (the process is killed before the call), none (only counted in the log); FOR: so many
 *                                   calls fail, 0 = all from then on; 1 where it is left out
 *   BERTH_FAULT_IN=TEXT             counts only calls for files whose whole path, from / on, has this in it
 *   BERTH_CLOCK=K:SECONDS           from the K-th reading on, the clock of the day is off by so much, and only it
 *
 * What happened stands in the file BERTH_FAULT_LOG, a line each. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static char fault_call[16];
static long fault_at, fault_for = 1, clock_at;
static double clock_off;
static int fault_error = -1; /* 0: short, and these: */
enum { kKill = 1000, kNone };
static const char *fault_in, *fault_log;
static atomic_long calls, readings;

static int ErrorOf(const char* name) {
  static const struct {
    const char* name;
    int error;
  } known[] = {{"ENOSPC", ENOSPC}, {"EIO", EIO},   {"EDQUOT", EDQUOT},
               {"EROFS", EROFS},   {"EINTR", EINTR}, {"short", 0}, {"KILL", kKill}, {"none", kNone}};
  for (size_t i = 0; i < sizeof known / sizeof *known; ++i) {
    if (strcmp(known[i].name, name) == 0) return known[i].error;
  }
  return -1;
}

__attribute__((constructor)) static void Begin(void) {
  const char* fault = getenv("BERTH_FAULT");
  char what[16] = "";
  if (fault != NULL &&
      (sscanf(fault, "%15[a-z]:%ld:%15[A-Za-z]:%ld", fault_call, &fault_at, what, &fault_for) < 3 ||
       (fault_error = ErrorOf(what)) < 0)) {
    fprintf(stderr, "BERTH_FAULT: expected CALL:K:WHAT[:FOR], found %s\n", fault);
    _exit(99);
  }
  const char* clock = getenv("BERTH_CLOCK");
  if (clock != NULL && sscanf(clock, "%ld:%lf", &clock_at, &clock_off) != 2) _exit(99);
  fault_in = getenv("BERTH_FAULT_IN");
  fault_log = getenv("BERTH_FAULT_LOG");
}

static void Say(const char* call, const char* path) {
  if (fault_log == NULL) return;
  char line[5000];
  const int size = snprintf(line, sizeof line, "%s %s\n", call, path);
  const int file = (int)syscall(SYS_openat, AT_FDCWD, fault_log, O_WRONLY | O_CREAT | O_APPEND, 0666);
  if (file < 0) return;
  syscall(SYS_write, file, line, (size_t)size < sizeof line ? (size_t)size : sizeof line - 1);
  syscall(SYS_close, file);
}

static int Meant(const char* call) {
  if (fault_error < 0) return 0;
  if (strcmp(fault_call, "change") == 0) return strstr("open rename mkdir unlink", call) != NULL;
  return strcmp(call, fault_call) == 0 || strcmp(fault_call, "any") == 0;
}

/* Whether this call is one that fails. */
static int Fails(const char* call, const char* name) {
  if (!Meant(call)) return 0;
  char path[4500] = "";
  if (*name != '/' && getcwd(path, 4000) != NULL) strcat(path, "/");
  strncat(path, name, sizeof path - strlen(path) - 1);
  if (fault_in != NULL && strstr(path, fault_in) == NULL) return 0;
  const long now = atomic_fetch_add(&calls, 1) + 1;
  if (now < fault_at || (fault_for > 0 && now >= fault_at + fault_for)) return 0;
  Say(call, path);
  if (fault_error == kKill) kill(getpid(), SIGKILL);
  return fault_error != kNone;
}

/* The path of an open file; only of regular files and folders, so that pipes and terminals are left alone. */
static const char* PathOf(int file, char* room, size_t size) {
  struct stat status;
  if (fstat(file, &status) != 0 || !(S_ISREG(status.st_mode) || S_ISDIR(status.st_mode))) return NULL;
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  const ssize_t length = readlink(link, room, size - 1);
  if (length < 0) return NULL;
  room[length] = '\0';
  return room;
}

static int FailsOpen(const char* call, int file) {
  char room[4096];
  if (!Meant(call)) return 0;
  const char* path = PathOf(file, room, sizeof room);
  return path != NULL && Fails(call, path);
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

/* A short one moves one byte. */
#define MOVES(name, call, bytes_type, offset_parameter, offset_argument)                      \
  ssize_t name(int file, bytes_type bytes, size_t count offset_parameter) {                   \
    if (count > 0 && FailsOpen(call, file)) {                                                 \
      if (fault_error == 0) return REAL(name)(file, bytes, 1 offset_argument);                \
      errno = fault_error;                                                                    \
      return -1;                                                                              \
    }                                                                                         \
    return REAL(name)(file, bytes, count offset_argument);                                    \
  }
#define NOTHING
#define OFFSET_PARAMETER , off_t offset
#define OFFSET_ARGUMENT , offset
MOVES(write, "write", const void*, NOTHING, NOTHING)
MOVES(read, "read", void*, NOTHING, NOTHING)
MOVES(pwrite, "write", const void*, OFFSET_PARAMETER, OFFSET_ARGUMENT)
MOVES(pread, "read", void*, OFFSET_PARAMETER, OFFSET_ARGUMENT)

/* As std::ofstream writes. */
ssize_t writev(int file, const struct iovec* parts, int count) {
  if (count > 0 && FailsOpen("write", file)) {
    for (int i = 0; fault_error == 0 && i < count; ++i) {
      if (parts[i].iov_len > 0) return REAL(write)(file, parts[i].iov_base, 1);
    }
    errno = fault_error;
    return -1;
  }
  return REAL(writev)(file, parts, count);
}

int fsync(int file) {
  if (FailsOpen("fsync", file)) {
    errno = fault_error;
    return -1;
  }
  return REAL(fsync)(file);
}

/* Of a file that was written: on Linux what was only read has nothing that its close could fail at, and libhdf5
 * crashes as it ends when one does. */
int close(int file) {
  const int flags = fault_error >= 0 ? fcntl(file, F_GETFL) : -1;
  if (flags >= 0 && (flags & O_ACCMODE) != O_RDONLY && FailsOpen("close", file)) { /* Linux closes it all the same */
    REAL(close)(file);
    errno = fault_error;
    return -1;
  }
  return REAL(close)(file);
}

#define NAMED(name, call, parameters, path, arguments) \
  int name parameters {                                \
    if (Fails(call, path)) {                           \
      errno = fault_error;                             \
      return -1;                                       \
    }                                                  \
    return REAL(name) arguments;                       \
  }
NAMED(rename, "rename", (const char* from, const char* to), to, (from, to))
NAMED(mkdir, "mkdir", (const char* path, mode_t mode), path, (path, mode))
NAMED(unlink, "unlink", (const char* path), path, (path))
NAMED(remove, "unlink", (const char* path), path, (path))

/* Only to write. */
#define OPENS(name)                                                               \
  int name(const char* path, int flags, ...) {                                    \
    va_list more;                                                                 \
    va_start(more, flags);                                                        \
    const unsigned mode = (flags & O_CREAT) != 0 ? va_arg(more, unsigned) : 0;    \
    va_end(more);                                                                 \
    if ((flags & (O_WRONLY | O_RDWR)) != 0 && Fails("open", path)) {              \
      errno = fault_error;                                                        \
      return -1;                                                                  \
    }                                                                             \
    return REAL(name)(path, flags, mode);                                         \
  }
OPENS(open)
OPENS(open64)

/* As std::ofstream opens. */
FILE* fopen64(const char* path, const char* mode) {
  if (strpbrk(mode, "wa+") != NULL && Fails("open", path)) {
    errno = fault_error;
    return NULL;
  }
  return REAL(fopen64)(path, mode);
}

static double Off(void) {
  if (clock_at == 0) return 0.0;
  const long now = atomic_fetch_add(&readings, 1) + 1;
  if (now == clock_at) Say("clock", "jumps");
  return now < clock_at ? 0.0 : clock_off;
}

int clock_gettime(clockid_t clock, struct timespec* out) {
  const int code = REAL(clock_gettime)(clock, out);
  if (code == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) out->tv_sec += (time_t)Off();
  return code;
}

int gettimeofday(struct timeval* out, void* zone) {
  const int code = REAL(gettimeofday)(out, zone);
  if (code == 0) out->tv_sec += (time_t)Off();
  return code;
}

time_t time(time_t* out) {
  const time_t now = REAL(time)(NULL) + (time_t)Off();
  if (out != NULL) *out = now;
  return now;
}
