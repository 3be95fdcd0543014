#define _GNU_SOURCE
#include "GrantJudge.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { OWNER = 1, USER = 2, OWNING_GROUP = 4, GROUP = 8, MASK = 16, OTHER = 32 };
enum { XATTR_SIZE = 4 + 8 * JUDGE_MAX_ENTRIES, TIMES = 4 };
static const char *const access_acl = "system.posix_acl_access";
static const char *const default_acl = "system.posix_acl_default";

// MARK: the model

// For each set of bits, the digits that are subsets of it.
static const uint8_t subsets[8] = {0x01, 0x03, 0x05, 0x0f, 0x11, 0x33, 0x55, 0xff};

static int is_member(uint32_t group, const uint32_t *groups, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (groups[i] == group) return 1;
  return 0;
}

uint8_t judge_model(
    const struct judge_inode *inode, uint32_t uid, const uint32_t *groups, size_t count) {
  uint16_t mode = inode->mode;
  if (uid == inode->uid) return subsets[mode >> 6 & 7];
  if (inode->count == 0 || !(mode & 070)) {
    int shift = is_member(inode->gid, groups, count) ? 3 : 0;
    return subsets[mode >> shift & 7];
  }
  uint8_t mask = 0xff, granted = 0;
  int is_named = 0;
  for (size_t i = 0; i < inode->count; i++)
    if (inode->entries[i].tag == MASK) mask = subsets[inode->entries[i].permissions & 7];
  for (size_t i = 0; i < inode->count; i++) {
    const struct judge_entry *entry = &inode->entries[i];
    uint8_t held = subsets[entry->permissions & 7];
    if (entry->tag == USER && entry->id == uid) return held & mask;
    if ((entry->tag == OWNING_GROUP && is_member(inode->gid, groups, count)) ||
        (entry->tag == GROUP && is_member(entry->id, groups, count))) {
      granted |= held;
      is_named = 1;
    }
    if (entry->tag == OTHER) return is_named ? granted & mask : held;
  }
  return 0;
}

static void add(uint32_t *set, size_t *count, size_t limit, uint32_t id) {
  if (*count < limit && !is_member(id, set, *count)) set[(*count)++] = id;
}

struct judge_difference judge_compare(
    const struct judge_inode *before, const struct judge_inode *after, uint32_t except) {
  struct judge_difference difference = {0, 0, 0};
  uint32_t users[2 * JUDGE_MAX_ENTRIES], groups[12];
  size_t user_count = 0, group_count = 0;
  add(users, &user_count, 2 * JUDGE_MAX_ENTRIES, 4000000001u);
  add(users, &user_count, 2 * JUDGE_MAX_ENTRIES, before->uid);
  add(groups, &group_count, 12, before->gid);
  for (int side = 0; side < 2; side++) {
    const struct judge_inode *inode = side ? after : before;
    for (size_t i = 0; i < inode->count; i++) {
      const struct judge_entry *entry = &inode->entries[i];
      if (entry->tag == USER) add(users, &user_count, 2 * JUDGE_MAX_ENTRIES, entry->id);
      if (entry->tag == GROUP) add(groups, &group_count, 12, entry->id);
    }
  }
  for (unsigned subset = 0; subset < 1u << group_count; subset++) {
    uint32_t own[12];
    size_t own_count = 0;
    for (size_t i = 0; i < group_count; i++)
      if (subset >> i & 1) own[own_count++] = groups[i];
    for (size_t i = 0; i < user_count; i++) {
      if (users[i] == except) continue;
      uint8_t old = judge_model(before, users[i], own, own_count);
      uint8_t new = judge_model(after, users[i], own, own_count);
      difference.asked++;
      difference.gained += (new & ~old) != 0;
      difference.lost += (old & ~new) != 0;
    }
  }
  return difference;
}

// MARK: the kernel

struct state {
  uint32_t mode, uid, gid, links;
  uint64_t inode, size;
  struct timespec modified;
  int32_t access_size, default_size;
  uint8_t access[XATTR_SIZE], by_default[XATTR_SIZE];
};

struct subject {
  uint32_t uid, gid, groups[JUDGE_MAX_GROUPS];
  size_t count;
};

struct judge_tree {
  int base;
  char path[256];
  size_t inode_count, subject_count;
  int inodes[JUDGE_MAX_INODES];
  struct subject subjects[JUDGE_MAX_SUBJECTS];
  struct state states[TIMES][JUDGE_MAX_INODES];
  uint8_t permitted[TIMES][JUDGE_MAX_SUBJECTS][JUDGE_MAX_INODES];
};

int judge_enter_namespace(const char *const *folders, size_t count) {
  if (unshare(CLONE_NEWNS)) return -errno;
  if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL)) return -errno;
  for (size_t i = 0; i < count; i++)
    if (mount("tmpfs", folders[i], "tmpfs", 0, "mode=0755")) return -errno;
  return 0;
}

struct judge_tree *judge_open(const char *base, const char *path) {
  struct judge_tree *tree = calloc(1, sizeof *tree);
  if (!tree) return NULL;
  snprintf(tree->path, sizeof tree->path, "%s", path);
  tree->base = open(base, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (tree->base >= 0) return tree;
  free(tree);
  return NULL;
}

void judge_close(struct judge_tree *tree) {
  for (size_t i = 0; i < tree->inode_count; i++) close(tree->inodes[i]);
  close(tree->base);
  free(tree);
}

static void link_of(int fd, char link[32]) { snprintf(link, 32, "/proc/self/fd/%d", fd); }

static int set_acl(
    int fd, const char *name, const struct judge_entry *entries, size_t count) {
  uint8_t bytes[XATTR_SIZE] = {2, 0, 0, 0};
  char link[32];
  if (count > JUDGE_MAX_ENTRIES) return -E2BIG;
  memcpy(bytes + 4, entries, count * sizeof *entries);
  link_of(fd, link);
  return setxattr(link, name, bytes, 4 + count * sizeof *entries, 0) ? -errno : 0;
}

static int set_mode(int fd, uint16_t mode) {
  char link[32];
  link_of(fd, link);
  return chmod(link, mode) ? -errno : 0;
}

int judge_make(
    struct judge_tree *tree, const char *path, char kind, const struct judge_inode *inode) {
  if (tree->inode_count == JUDGE_MAX_INODES) return -E2BIG;
  mode_t type = kind == 'c' ? S_IFCHR : kind == 'p' ? S_IFIFO : S_IFREG;
  int failed = kind == 'd' ? mkdirat(tree->base, path, 0700)
                           : mknodat(tree->base, path, type | 0600, kind == 'c' ? makedev(1, 3) : 0);
  if (failed) return -errno;
  int fd = openat(tree->base, path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return -errno;
  tree->inodes[tree->inode_count++] = fd;
  if (fchownat(fd, "", inode->uid, inode->gid, AT_EMPTY_PATH)) return -errno;
  int result = set_mode(fd, inode->mode);
  if (result || inode->count == 0) return result;
  return set_acl(fd, access_acl, inode->entries, inode->count);
}

int judge_set_default(struct judge_tree *tree, const struct judge_entry *entries, size_t count) {
  return set_acl(tree->inodes[tree->inode_count - 1], default_acl, entries, count);
}

void judge_add_subject(
    struct judge_tree *tree, uint32_t uid, uint32_t gid, const uint32_t *groups, size_t count) {
  if (tree->subject_count == JUDGE_MAX_SUBJECTS || count > JUDGE_MAX_GROUPS) return;
  struct subject *subject = &tree->subjects[tree->subject_count++];
  subject->uid = uid;
  subject->gid = gid;
  subject->count = count;
  memcpy(subject->groups, groups, count * sizeof *groups);
}

size_t judge_subjects(const struct judge_tree *tree) { return tree->subject_count; }

size_t judge_inodes(const struct judge_tree *tree) { return tree->inode_count; }

// Calls the system directly, because glibc's wrappers would change all threads.
static int set_capabilities(int all) {
  struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct data[2];
  if (syscall(SYS_capget, &header, data)) return -errno;
  data[0].effective = all ? data[0].permitted : 1u << CAP_SETUID | 1u << CAP_SETGID;
  data[1].effective = all ? data[1].permitted : 0;
  return syscall(SYS_capset, &header, data) ? -errno : 0;
}

static int become(const struct subject *subject) {
  if (syscall(SYS_setgroups, subject->count, subject->groups)) return -errno;
  syscall(SYS_setfsgid, subject->gid);
  syscall(SYS_setfsuid, subject->uid);
  if ((uint32_t)syscall(SYS_setfsgid, -1) != subject->gid ||
      (uint32_t)syscall(SYS_setfsuid, -1) != subject->uid)
    return -EPERM;
  return set_capabilities(0);
}

static int come_back(void) {
  static const struct subject root = {0, 0, {0}, 0};
  int result = become(&root);
  return result ? result : set_capabilities(1);
}

int judge_look_at_states(struct judge_tree *tree, int time) {
  memset(tree->states[time], 0, sizeof tree->states[time]);
  for (size_t i = 0; i < tree->inode_count; i++) {
    struct state *state = &tree->states[time][i];
    struct stat st;
    char link[32];
    if (fstat(tree->inodes[i], &st)) return -errno;
    state->mode = st.st_mode;
    state->uid = st.st_uid;
    state->gid = st.st_gid;
    state->links = st.st_nlink;
    state->inode = st.st_ino;
    state->size = st.st_size;
    state->modified = st.st_mtim;
    link_of(tree->inodes[i], link);
    state->access_size = getxattr(link, access_acl, state->access, XATTR_SIZE);
    if (state->access_size < 0 && errno != ENODATA) return -errno;
    state->default_size = getxattr(link, default_acl, state->by_default, XATTR_SIZE);
    if (state->default_size < 0 && errno != ENODATA && S_ISDIR(st.st_mode)) return -errno;
  }
  return 0;
}

int judge_look(struct judge_tree *tree, int time) {
  int result = judge_look_at_states(tree, time);
  if (result) return result;
  for (size_t s = 0; s < tree->subject_count; s++) {
    result = become(&tree->subjects[s]);
    if (result) return result;
    for (size_t i = 0; i < tree->inode_count; i++) {
      uint8_t permitted = 1;
      for (int want = 1; want < 8; want++) {
        if (!syscall(SYS_faccessat2, tree->inodes[i], "", want, AT_EMPTY_PATH | AT_EACCESS))
          permitted |= 1 << want;
        else if (errno != EACCES)
          result = -errno;
      }
      tree->permitted[time][s][i] = permitted;
    }
  }
  int returned = come_back();
  return result ? result : returned;
}

int judge_is_same(const struct judge_tree *tree, int time, int other) {
  return !memcmp(tree->states[time], tree->states[other], sizeof tree->states[time]);
}

size_t judge_state(
    const struct judge_tree *tree, int time, size_t inode, uint16_t *mode,
    struct judge_entry *entries) {
  const struct state *state = &tree->states[time][inode];
  *mode = state->mode & 07777;
  if (state->access_size <= 4) return 0;
  memcpy(entries, state->access + 4, state->access_size - 4);
  return (state->access_size - 4) / sizeof *entries;
}

uint64_t judge_disagreements(const struct judge_tree *tree, int time) {
  uint64_t found = 0;
  for (size_t i = 0; i < tree->inode_count; i++) {
    struct judge_entry entries[JUDGE_MAX_ENTRIES];
    const struct state *state = &tree->states[time][i];
    struct judge_inode inode = {0, state->uid, state->gid, entries, 0};
    inode.count = judge_state(tree, time, i, &inode.mode, entries);
    for (size_t s = 0; s < tree->subject_count; s++) {
      const struct subject *subject = &tree->subjects[s];
      uint32_t groups[JUDGE_MAX_GROUPS + 1] = {subject->gid};
      memcpy(groups + 1, subject->groups, subject->count * sizeof *groups);
      found += judge_model(&inode, subject->uid, groups, subject->count + 1) !=
               tree->permitted[time][s][i];
    }
  }
  return found;
}

uint8_t judge_worth(uint8_t permitted, int is_directory) {
  return is_directory ? permitted & ~(1 << 2 | 1 << 6) : permitted;
}

uint8_t judge_beyond(uint8_t old, uint8_t new, int asked, int is_directory) {
  uint8_t was = judge_worth(old, is_directory);
  for (int combination = 1; combination < 8; combination++)
    if (was & 1 << combination) asked |= combination;
  return judge_worth(new, is_directory) & ~subsets[asked];
}

struct judge_changes judge_changes(const struct judge_tree *tree, int before, int after, int asked) {
  struct judge_changes changes = {0};
  for (size_t s = 0; s < tree->subject_count; s++) {
    uint8_t gained = 0, lost = 0;
    for (size_t i = 0; i < tree->inode_count; i++) {
      uint8_t old = tree->permitted[before][s][i], new = tree->permitted[after][s][i];
      if (s == 0) {
        int is_directory = S_ISDIR(tree->states[before][i].mode);
        int here = i == tree->inode_count - 1 ? asked : 1;
        gained |= judge_beyond(old, new, here, is_directory);
        lost |= judge_worth(old & ~new, is_directory);
      } else {
        gained |= new & ~old;
        lost |= old & ~new;
      }
    }
    if (s == 0) {
      changes.subject_got_more = gained != 0;
      changes.subject_lost = lost != 0;
    } else {
      changes.gained += gained != 0;
      changes.lost += lost != 0;
    }
  }
  return changes;
}

uint8_t judge_permitted(const struct judge_tree *tree, int time, size_t inode) {
  return tree->permitted[time][0][inode];
}

int judge_reaches(struct judge_tree *tree, int opened, int rest, int directory) {
  static const int modes[8] = {[2] = O_WRONLY, [4] = O_RDONLY, [6] = O_RDWR};
  int result = become(&tree->subjects[0]), reaches = 1;
  if (result) return result;
  if (opened) {
    int flags = modes[opened] | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | (directory ? O_DIRECTORY : 0);
    int fd = openat(tree->base, tree->path, flags);
    // The kernel refuses a writer of a FIFO without a reader only after it checked the permissions.
    if (fd < 0 && errno == EACCES) reaches = 0;
    else if (fd < 0 && errno != ENXIO) result = -errno;
    if (fd >= 0) close(fd);
  }
  if (rest && syscall(SYS_faccessat2, tree->base, tree->path, rest, AT_EACCESS)) {
    if (errno == EACCES) reaches = 0;
    else result = -errno;
  }
  int returned = come_back();
  return result ? result : returned ? returned : reaches;
}

int judge_change_mode(struct judge_tree *tree, size_t inode, uint16_t mode) {
  return set_mode(tree->inodes[inode], mode);
}

int judge_change_acl(
    struct judge_tree *tree, size_t inode, const struct judge_entry *entries, size_t count) {
  return set_acl(tree->inodes[inode], access_acl, entries, count);
}

int judge_restore(struct judge_tree *tree, int time) {
  for (size_t i = 0; i < tree->inode_count; i++) {
    struct state *state = &tree->states[time][i];
    char link[32];
    link_of(tree->inodes[i], link);
    if (state->access_size < 0 && removexattr(link, access_acl) && errno != ENODATA) return -errno;
    if (state->access_size >= 0 &&
        setxattr(link, access_acl, state->access, state->access_size, 0))
      return -errno;
    if (chmod(link, state->mode & 07777)) return -errno;
  }
  return 0;
}
