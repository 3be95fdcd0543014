// Whether a program takes connections at the file of a socket. Included by shim.h.
#ifndef CCAP_LISTENER_H
#define CCAP_LISTENER_H

// Whether a socket that the kernel lists is bound to the file and takes connections.
static inline int ccap_takes(const struct nlmsghdr *message, uint32_t inode, uint32_t device) {
  // The numbers of include/net/tcp_states.h.
  enum { CLOSE = 7, LISTEN = 10, RCV_SHUTDOWN = 1 };
  const struct unix_diag_msg *found = (const struct unix_diag_msg *)NLMSG_DATA(message);
  int is_bound = 0, is_shut = 0, has_peer = 0;
  size_t length = NLMSG_PAYLOAD(message, sizeof *found);
  const char *place = (const char *)found + NLMSG_ALIGN(sizeof *found);
  while (length >= sizeof(struct nlattr)) {
    const struct nlattr *member = (const struct nlattr *)place;
    if (member->nla_len < sizeof *member || member->nla_len > length) break;
    if (member->nla_type == UNIX_DIAG_VFS && member->nla_len >= sizeof *member + sizeof(struct unix_diag_vfs)) {
      struct unix_diag_vfs file;
      memcpy(&file, place + sizeof *member, sizeof file);
      is_bound = file.udiag_vfs_ino == inode && file.udiag_vfs_dev == device;
    }
    has_peer |= member->nla_type == UNIX_DIAG_PEER;
    if (member->nla_type == UNIX_DIAG_SHUTDOWN) is_shut = place[sizeof *member] & RCV_SHUTDOWN;
    size_t step = NLMSG_ALIGN(member->nla_len);
    if (step > length) break;
    place += step;
    length -= step;
  }
  // A datagram socket with a peer of its own takes nothing from others: unix_may_send().
  const int is_datagram = found->udiag_type == SOCK_DGRAM;
  return is_bound && !is_shut && !(is_datagram && has_peer) && found->udiag_state == (is_datagram ? CLOSE : LISTEN);
}

// Asks by sock_diag(7), which connects to nothing and knows this network namespace alone. A name in
// /proc/net/unix proves less: anybody can bind it in a mount namespace of their own.
static inline int ccap_is_listed(uint32_t inode, uint32_t device) {
  struct {
    struct nlmsghdr head;
    struct unix_diag_req ask;
  } question;
  memset(&question, 0, sizeof question);
  question.head.nlmsg_len = sizeof question;
  question.head.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  question.head.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
  question.ask.sdiag_family = AF_UNIX;
  question.ask.udiag_states = ~0U;
  question.ask.udiag_show = UDIAG_SHOW_VFS | UDIAG_SHOW_PEER;
  // The kernel has each part of the answer ready.
  int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
  if (fd < 0) return 0;
  int is_listed = 0, is_over = send(fd, &question, sizeof question, 0) != (ssize_t)sizeof question;
  while (!is_over) {
    _Alignas(struct nlmsghdr) char part[32768];
    ssize_t size = recv(fd, part, sizeof part, 0);
    if (size <= 0) break;
    unsigned left = (unsigned)size;
    for (struct nlmsghdr *message = (struct nlmsghdr *)part; NLMSG_OK(message, left);
         message = NLMSG_NEXT(message, left)) {
      is_over = message->nlmsg_type == NLMSG_DONE || message->nlmsg_type == NLMSG_ERROR;
      if (is_over) break;
      if (message->nlmsg_len >= NLMSG_LENGTH(sizeof(struct unix_diag_msg)) && ccap_takes(message, inode, device))
        is_listed = 1;
    }
  }
  close(fd);
  return is_listed;
}

// Whether a program takes connections at a socket, which may be O_PATH: 1, or 0 if none is seen, or
// -errno of connect(2), which is asked only with `connects`, and where none is seen without.
static inline int ccap_listener(int fd, int connects) {
  const int types[] = {SOCK_STREAM, SOCK_SEQPACKET, SOCK_DGRAM};
  struct ccap_stat file;
  char path[32];
  int result = ccap_statx(fd, "", &file);
  if (result < 0) return result;
  // The list has 32 bits of the inode number, and the kernel's own form of the device number.
  if (file.inode <= UINT32_MAX && ccap_is_listed((uint32_t)file.inode, file.dev_major << 20 | file.dev_minor))
    return 1;
  if (!connects) return 0;
  ccap_link(fd, path);
  for (int i = 0; i < 3; i++) {
    result = ccap_connect(path, types[i]);
    if (result >= 0) close(result);
    if (result != -EPROTOTYPE) break;
  }
  // A full queue is one of a program that listens.
  return result >= 0 || result == -EAGAIN ? 1 : result;
}

#endif
