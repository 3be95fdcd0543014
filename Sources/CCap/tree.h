// The calls of an audit, for one open folder at a time. Included by shim.h.
//
// No call follows a link out of the mount of its folder, opens anything but a folder, or waits for a
// file system that is mounted inside the tree.
#ifndef CCAP_TREE_H
#define CCAP_TREE_H

// struct linux_dirent64 of include/linux/dirent.h: inode 8, offset 8, length 2, type 1, name.
enum { CCAP_NAME = 19, CCAP_FOLDER = 4, CCAP_FILE = 8, CCAP_LINK = 10 };
// The permission to search a folder, for faccessat2(2).
enum { CCAP_SEARCH = 1 };

// What one getdents64(2) of a folder gave.
struct ccap_names {
  long length;      // the answer of getdents64(2): bytes, 0 at the end, or -errno
  uint64_t asked;   // names that faccessat2(2) was asked about
  uint64_t found;   // bytes of records
  int64_t offset;   // where the next read starts
};

static inline int ccap_open_near(int dir, const char *name, int flags) {
  enum { NO_XDEV = 1, NO_MAGICLINKS = 2 };
  struct { uint64_t flags, mode, resolve; } how = {(uint64_t)(unsigned)(flags | O_CLOEXEC), 0, NO_XDEV | NO_MAGICLINKS};
  long fd;
  do fd = syscall(437, dir, name, &how, sizeof how);
  while (fd < 0 && (errno == EAGAIN || errno == EINTR));
  return fd < 0 ? -errno : (int)fd;
}

// Opens a folder that is no link and no mount point.
static inline int ccap_open_folder(int dir, const char *name) {
  return ccap_open_near(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK);
}

// A counter that read(2) waits for and takes one from.
static inline int ccap_semaphore(void) {
  int fd = eventfd(0, EFD_SEMAPHORE | EFD_CLOEXEC);
  return fd < 0 ? -errno : fd;
}

// Fails with EXDEV if something is mounted on a name, without a look at it.
static inline int ccap_is_near(int dir, const char *name) {
  enum { PATH = 010000000 };
  int fd = ccap_open_near(dir, name, PATH | O_NOFOLLOW);
  if (fd >= 0) close(fd);
  // What is not there, or not to be seen, is asked about.
  return fd >= 0 || fd == -ENOENT || fd == -EACCES || fd == -ENOTDIR ? 0 : fd;
}

// Asks faccessat2(2) about a name that is no link when it is asked, or about an open file.
static inline int ccap_ask_at(int dir, const char *name, int need) {
  int flags = CCAP_AT_EACCESS | (*name ? 0x100 /* AT_SYMLINK_NOFOLLOW */ : CCAP_AT_EMPTY_PATH);
  return syscall(439, dir, name, need, flags) != 0 ? -errno : 0;
}

// faccessat2(2) of a file of any type: of a folder w is asked for with x, as `TreeQuestion.need(on:)`.
static inline int ccap_ask_any(int dir, const char *name, int need, int flags) {
  if (syscall(439, dir, name, need, flags | CCAP_AT_EACCESS) != 0) return -errno;
  int names = (need & 3) == 2;
  if (!names || syscall(439, dir, name, need | 1, flags | CCAP_AT_EACCESS) == 0) return 0;
  int error = errno;
  struct statx sx;
  flags |= CCAP_AT_NO_AUTOMOUNT | CCAP_AT_STATX_DONT_SYNC;
  if (syscall(SYS_statx, dir, name, flags, STATX_TYPE, &sx) != 0) return -errno;
  return S_ISDIR(sx.stx_mode) ? -error : 0;
}

// Asks faccessat2(2) about the target of a link; -EXDEV if the target is on another mount.
static inline int ccap_ask_link(int dir, const char *name, int need) {
  enum { PATH = 010000000 };
  int fd = ccap_open_near(dir, name, PATH);
  if (fd < 0) return fd;
  int result = ccap_ask_any(fd, "", need, CCAP_AT_EMPTY_PATH);
  close(fd);
  return result;
}

// faccessat2(2) of a link whose target may be on any mount.
static inline int ccap_ask_through(int dir, const char *name, int need) {
  return ccap_ask_any(dir, name, need, 0);
}

// The type of a name as getdents64(2) has it, where a file system does not tell.
static inline uint8_t ccap_type_at(int dir, const char *name) {
  struct statx sx;
  int flags = 0x100 | CCAP_AT_NO_AUTOMOUNT | CCAP_AT_STATX_DONT_SYNC;
  if (syscall(SYS_statx, dir, name, flags, STATX_TYPE, &sx) != 0) return 0;
  return (uint8_t)((sx.stx_mode & S_IFMT) >> 12);
}

// Reads names of an open folder once, and asks about each that is no folder; if `careful`, not about one
// that something is mounted on, which gets EXDEV. Writes a record to `found`
// for each folder and each name that was refused: its type, the errno, its bytes and a NUL; this never
// needs more than `size` bytes.
static inline void ccap_ask_names(
    int dir, int need, int careful, uint8_t *buffer, uint8_t *found, size_t size, struct ccap_names *names) {
  uint8_t *end = found;
  names->asked = 0;
  names->found = 0;
  names->length = syscall(SYS_getdents64, dir, buffer, size);
  if (names->length < 0) names->length = -errno;
  for (long at = 0; at + CCAP_NAME < names->length;) {
    uint16_t length;
    memcpy(&length, buffer + at + 16, sizeof length);
    memcpy(&names->offset, buffer + at + 8, sizeof names->offset);
    uint8_t type = buffer[at + 18];
    const char *name = (const char *)buffer + at + CCAP_NAME;
    at += length;
    if (name[0] == '.' && (!name[1] || (name[1] == '.' && !name[2]))) continue;
    if (type == 0) type = ccap_type_at(dir, name);
    int error = 0;
    if (type != CCAP_FOLDER) {
      names->asked++;
      if (type == CCAP_LINK) error = ccap_ask_link(dir, name, need);
      else if (!careful || !(error = ccap_is_near(dir, name))) error = ccap_ask_at(dir, name, need);
      if (!error) continue;
    }
    *end++ = type;
    *end++ = (uint8_t)-error;
    end = (uint8_t *)stpcpy((char *)end, name) + 1;
  }
  names->found = (uint64_t)(end - found);
}

// Takes on ids for file access in this thread alone, without capabilities; -errno if that failed.
//
// The other ids stay, so that the user cannot send signals to this process.
static inline int ccap_take_file_ids(uint32_t uid, uint32_t gid, const uint32_t *groups, size_t count) {
  struct { uint32_t version; int pid; } header = {0x20080522, 0};
  const uint32_t none[2][3] = {{0, 0, 0}, {0, 0, 0}};
  if (syscall(SYS_setgroups, count, groups) != 0) return -errno;
  syscall(SYS_setfsgid, gid);
  syscall(SYS_setfsuid, uid);
  if ((uint32_t)syscall(SYS_setfsgid, -1) != gid || (uint32_t)syscall(SYS_setfsuid, -1) != uid) return -EPERM;
  return syscall(SYS_capset, &header, none) != 0 ? -errno : 0;
}

// The fields of a name that decide about access; `name` is where it begins in the buffer.
struct ccap_named {
  uint32_t name, mode, uid, gid, rdev_major, rdev_minor, dev_major, dev_minor;
  uint64_t mount, attributes, inode;
  int32_t error;
};

// Reads the fields of a name that is not followed.
static inline void ccap_stat_name(int dir, const char *name, struct ccap_named *to) {
  enum { WHAT = STATX_BASIC_STATS | STATX_MNT_ID };
  int flags = 0x100 | CCAP_AT_NO_AUTOMOUNT | CCAP_AT_STATX_DONT_SYNC;
  struct statx sx;
  to->error = syscall(SYS_statx, dir, name, flags, WHAT, &sx) != 0 ? errno : 0;
  if (to->error) return;
  int is_device = S_ISCHR(sx.stx_mode) || S_ISBLK(sx.stx_mode);
  to->mode = sx.stx_mode;
  to->inode = sx.stx_ino;
  to->uid = sx.stx_uid;
  to->gid = sx.stx_gid;
  to->rdev_major = is_device ? sx.stx_rdev_major : 0;
  to->rdev_minor = is_device ? sx.stx_rdev_minor : 0;
  to->dev_major = sx.stx_dev_major;
  to->dev_minor = sx.stx_dev_minor;
  to->mount = sx.stx_mask & STATX_MNT_ID ? sx.stx_mnt_id : 0;
  to->attributes = sx.stx_attributes & 0x30;
}

// Reads names of an open folder once, with their fields, or only with their types and the numbers that
// getdents64(2) has; `out` has room for a name every 24 bytes. If `careful`, a name that something is
// mounted on gets EXDEV.
static inline long ccap_stat_names(
    int dir, int fields, int careful, uint8_t *buffer, size_t size, struct ccap_named *out, struct ccap_names *names) {
  long count = 0;
  names->length = syscall(SYS_getdents64, dir, buffer, size);
  if (names->length < 0) names->length = -errno;
  for (long at = 0; at + CCAP_NAME < names->length;) {
    uint16_t length;
    memcpy(&length, buffer + at + 16, sizeof length);
    memcpy(&names->offset, buffer + at + 8, sizeof names->offset);
    const char *name = (const char *)buffer + at + CCAP_NAME;
    struct ccap_named *to = &out[count];
    to->name = (uint32_t)(at + CCAP_NAME);
    uint8_t type = buffer[at + 18];
    memcpy(&to->inode, buffer + at, sizeof to->inode);
    at += length;
    if (name[0] == '.' && (!name[1] || (name[1] == '.' && !name[2]))) continue;
    count++;
    to->error = careful ? -ccap_is_near(dir, name) : 0;
    if (to->error) continue;
    if (fields) ccap_stat_name(dir, name, to);
    else to->mode = (uint32_t)(type ? type : ccap_type_at(dir, name)) << 12;
  }
  return count;
}

// Gives this thread a working directory of its own, so that a name can be asked for its ACL.
static inline int ccap_own_directory(void) {
  enum { FS = 0x200 };
  return syscall(SYS_unshare, FS) != 0 ? -errno : 0;
}

static inline int ccap_enter_directory(int dir) { return fchdir(dir) != 0 ? -errno : 0; }

// Opens a name that is no link with O_PATH, if it is on the mount of its folder.
static inline int ccap_open_name(int dir, const char *name) {
  enum { PATH = 010000000 };
  return ccap_open_near(dir, name, PATH | O_NOFOLLOW);
}

// The access ACL of a name in the working directory, which is not followed.
static inline long ccap_lgetxattr_acl(const char *name, void *value, size_t size) {
  ssize_t length = lgetxattr(name, "system.posix_acl_access", value, size);
  return length < 0 ? -errno : length;
}

#endif
