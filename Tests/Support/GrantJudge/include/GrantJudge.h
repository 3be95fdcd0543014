// The permissions of subjects on inodes, by a model of the kernel's rule and by the kernel itself,
// which this thread asks under other ids. Uses no code of the product.
//
// A set of permissions is a bitmap: bit N tells whether the digit N (r 4, w 2, x 1) is permitted in
// one call. All eight bits are needed, because one group can grant r and another w, while rw
// together is refused.
#ifndef GRANTJUDGE_H
#define GRANTJUDGE_H

#include <stddef.h>
#include <stdint.h>

enum { JUDGE_MAX_INODES = 8, JUDGE_MAX_SUBJECTS = 64, JUDGE_MAX_GROUPS = 16, JUDGE_MAX_ENTRIES = 40 };

// The format of include/uapi/linux/posix_acl_xattr.h.
struct judge_entry {
  uint16_t tag, permissions;
  uint32_t id;
};

// The mode, owner and ACL of an inode; no entries means no ACL.
struct judge_inode {
  uint16_t mode;
  uint32_t uid, gid;
  const struct judge_entry *entries;
  size_t count;
};

// Mirrors acl_permission_check() of fs/namei.c and posix_acl_permission() of fs/posix_acl.c.
uint8_t judge_model(const struct judge_inode *inode, uint32_t uid, const uint32_t *groups, size_t count);

// The combinations that let somebody do something: on a directory, w is worth nothing without x.
uint8_t judge_worth(uint8_t permitted, int is_directory);
// The combinations after a change that neither `old` nor the permissions `asked` account for.
uint8_t judge_beyond(uint8_t old, uint8_t new, int asked, int is_directory);

struct judge_difference {
  uint64_t asked, gained, lost;
};

// Compares an inode before and after a change by the model, for the owner, each user that an entry
// names, and a stranger, each with every subset of the owning and the named groups; leaves out
// `except`.
struct judge_difference judge_compare(
    const struct judge_inode *before, const struct judge_inode *after, uint32_t except);

// One tree in the kernel: its inodes, the subjects, and the states recorded at several times.
// Subject 0 is the one for whom changes are made.
struct judge_tree;

// Moves this thread into a mount namespace of its own, with empty file systems in memory on the
// folders. Returns 0, or -errno.
int judge_enter_namespace(const char *const *folders, size_t count);

// Opens a tree: `base` is a directory, `path` is the target's path in it. NULL if it cannot be
// opened.
struct judge_tree *judge_open(const char *base, const char *path);
void judge_close(struct judge_tree *tree);

// Creates an inode ('d', 'f', 'p', or 'c' for the null device). Returns 0, or -errno.
int judge_make(struct judge_tree *tree, const char *path, char kind, const struct judge_inode *inode);
// Sets the default ACL of the inode created last. Returns 0, or -errno.
int judge_set_default(struct judge_tree *tree, const struct judge_entry *entries, size_t count);
void judge_add_subject(
    struct judge_tree *tree, uint32_t uid, uint32_t gid, const uint32_t *groups, size_t count);
size_t judge_subjects(const struct judge_tree *tree);
size_t judge_inodes(const struct judge_tree *tree);

// Records the state at a time from 0 to 3: each inode's number, mode, ids, number of links, size,
// modification time, the bytes of both ACLs, and the permissions of each subject. Returns 0, or
// -errno.
int judge_look(struct judge_tree *tree, int time);
// Records the state without the permissions of the subjects.
int judge_look_at_states(struct judge_tree *tree, int time);
// Whether all inodes had the same state at both times.
int judge_is_same(const struct judge_tree *tree, int time, int other);
// The number of answers of the kernel that differ from the model.
uint64_t judge_disagreements(const struct judge_tree *tree, int time);
// The number of other subjects that gained or lost a permission; whether subject 0 lost an operation, and got one beyond
// `asked` on the target, the last inode, and x on the others.
struct judge_changes {
  uint64_t gained, lost;
  int subject_lost, subject_got_more;
};
struct judge_changes judge_changes(const struct judge_tree *tree, int before, int after, int asked);
// The permissions of subject 0 on the inode.
uint8_t judge_permitted(const struct judge_tree *tree, int time, size_t inode);

// Whether subject 0 gets access: open(2) of the target with r and w of `opened`, and faccessat2(2)
// for `rest`. Returns 1 or 0, or -errno if the kernel could not be asked.
int judge_reaches(struct judge_tree *tree, int opened, int rest, int directory);

// Changes mode or entries of an inode by one system call, as chmod(2) or setfacl(1) do. Returns 0,
// or -errno.
int judge_change_mode(struct judge_tree *tree, size_t inode, uint16_t mode);
int judge_change_acl(
    struct judge_tree *tree, size_t inode, const struct judge_entry *entries, size_t count);
// The recorded mode and entries of an inode; returns the number of entries, 0 without an ACL.
size_t judge_state(
    const struct judge_tree *tree, int time, size_t inode, uint16_t *mode, struct judge_entry *entries);
// Restores the recorded modes and access ACLs. Returns 0, or -errno.
int judge_restore(struct judge_tree *tree, int time);

#endif
