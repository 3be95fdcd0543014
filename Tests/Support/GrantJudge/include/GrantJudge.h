// What inodes permit to whom: by a model of the kernel's rule, and by the kernel itself, asked by this
// thread under other ids. Knows nothing of the product.
//
// A set of permissions is a bitmap: bit N says that the digit N (r 4, w 2, x 1), asked for at once, is
// permitted. All eight are kept, for two groups may grant r and w, and refuse both at once.
#ifndef GRANTJUDGE_H
#define GRANTJUDGE_H

#include <stddef.h>
#include <stdint.h>

enum { JUDGE_MAX_INODES = 8, JUDGE_MAX_SUBJECTS = 64, JUDGE_MAX_GROUPS = 16, JUDGE_MAX_ENTRIES = 40 };

// As in include/uapi/linux/posix_acl_xattr.h.
struct judge_entry {
  uint16_t tag, permissions;
  uint32_t id;
};

// Mode, owner and ACL of an inode; no entries: no ACL.
struct judge_inode {
  uint16_t mode;
  uint32_t uid, gid;
  const struct judge_entry *entries;
  size_t count;
};

// acl_permission_check() of fs/namei.c and posix_acl_permission() of fs/posix_acl.c.
uint8_t judge_model(const struct judge_inode *inode, uint32_t uid, const uint32_t *groups, size_t count);

struct judge_difference {
  uint64_t asked, gained, lost;
};

// Compares an inode before and after, by the model, for the owner, each user that an entry names, and
// a stranger, each in every subset of the owning and the named groups; `except` is left out.
struct judge_difference judge_compare(
    const struct judge_inode *before, const struct judge_inode *after, uint32_t except);

// One tree, in the kernel: its inodes, the subjects asked about, and what was seen at several times.
// Subject 0 is the one for whom changes are made.
struct judge_tree;

// Takes this thread into a mount namespace of its own, with empty file systems in memory on the
// folders. 0, or -errno.
int judge_enter_namespace(const char *const *folders, size_t count);

// `base` is a directory, `path` the target's path in it. NULL where it cannot be opened.
struct judge_tree *judge_open(const char *base, const char *path);
void judge_close(struct judge_tree *tree);

// Makes an inode ('d', 'f', 'p', or 'c', which is the null device). 0, or -errno.
int judge_make(struct judge_tree *tree, const char *path, char kind, const struct judge_inode *inode);
// Gives the inode that was made last a default ACL. 0, or -errno.
int judge_set_default(struct judge_tree *tree, const struct judge_entry *entries, size_t count);
void judge_add_subject(
    struct judge_tree *tree, uint32_t uid, uint32_t gid, const uint32_t *groups, size_t count);
size_t judge_subjects(const struct judge_tree *tree);
size_t judge_inodes(const struct judge_tree *tree);

// What can be seen at one time, 0 to 3: each inode's mode, ids, size, times but ctime, the bytes of both
// ACLs, and what it permits to each subject. 0, or -errno.
int judge_look(struct judge_tree *tree, int time);
// Looks at the states alone.
int judge_look_at_states(struct judge_tree *tree, int time);
// Whether all inodes were in the same state at both times.
int judge_is_same(const struct judge_tree *tree, int time, int other);
// How many subjects' answers differ from the model's.
uint64_t judge_disagreements(const struct judge_tree *tree, int time);
// How many of the others gained or lost something on any inode, and whether the subject lost.
struct judge_changes {
  uint64_t gained, lost;
  int subject_lost;
};
struct judge_changes judge_changes(const struct judge_tree *tree, int before, int after);
// What the inode permitted to the subject.
uint8_t judge_permitted(const struct judge_tree *tree, int time, size_t inode);

// Whether the subject is let in: open(2) of the target with r and w of `opened`, and faccessat2(2) for
// `rest`. 1, 0, or -errno where it could not be asked.
int judge_reaches(struct judge_tree *tree, int opened, int rest, int directory);

// Gives an inode mode and entries by one system call, as chmod(2) or setfacl(1) do. 0, or -errno.
int judge_change_mode(struct judge_tree *tree, size_t inode, uint16_t mode);
int judge_change_acl(
    struct judge_tree *tree, size_t inode, const struct judge_entry *entries, size_t count);
// Mode and entries of the inode as they were; the number of entries, 0 where there is no ACL.
size_t judge_state(
    const struct judge_tree *tree, int time, size_t inode, uint16_t *mode, struct judge_entry *entries);
// Puts mode and access ACLs back. 0, or -errno.
int judge_restore(struct judge_tree *tree, int time);

#endif
