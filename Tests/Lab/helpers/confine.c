/* Runs a command under a confinement that permission bits do not show:
 *
 *   confine landlock COMMAND...          Landlock: nothing below /dev can be read or written but /dev/null
 *   confine landlock-root COMMAND...     the same without no_new_privs, as CAP_SYS_ADMIN allows
 *   confine seccomp COMMAND...           openat(2) for reading and writing answers EPERM; openat2(2) works
 *   confine seccomp-all COMMAND...       so does openat2(2), whatever it is asked
 *   confine devices CGROUP COMMAND...    the cgroup v2 folder CGROUP refuses V4L2 and ALSA devices
 *
 * Exit status: the command's; 120 when the confinement could not be set up.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/bpf.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static int failed(const char *what)
{
    fprintf(stderr, "confine: %s: %s\n", what, strerror(errno));
    return 120;
}

static int landlock(int by_capability)
{
    const unsigned long read_write = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE;
    const char *allowed[] = { "/usr", "/etc", "/lab", "/home", "/proc", "/sys", "/run", "/tmp", "/dev/null" };
    struct landlock_ruleset_attr attr = { .handled_access_fs = read_write };
    int ruleset = syscall(SYS_landlock_create_ruleset, &attr, sizeof attr, 0);
    if (ruleset < 0) return failed("landlock_create_ruleset");
    for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++) {
        struct landlock_path_beneath_attr rule = { .allowed_access = read_write };
        rule.parent_fd = open(allowed[i], O_PATH | O_CLOEXEC);
        if (rule.parent_fd < 0) return failed(allowed[i]);
        if (syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0))
            return failed("landlock_add_rule");
        close(rule.parent_fd);
    }
    if (!by_capability && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) return failed("PR_SET_NO_NEW_PRIVS");
    if (syscall(SYS_landlock_restrict_self, ruleset, 0)) return failed("landlock_restrict_self");
    return 0;
}

static int seccomp(int openat2_too)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, openat2_too ? SYS_openat2 : 0xffffffff, 4, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 4),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
        BPF_STMT(BPF_ALU | BPF_AND | BPF_K, O_ACCMODE),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, O_RDWR, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = { .len = sizeof filter / sizeof *filter, .filter = filter };
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) return failed("PR_SET_NO_NEW_PRIVS");
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) return failed("PR_SET_SECCOMP");
    return 0;
}

static int devices(const char *cgroup)
{
    /* The context is { u32 access_type, major, minor }; 0 refuses. */
    struct bpf_insn program[] = {
        { .code = BPF_LDX | BPF_MEM | BPF_W, .dst_reg = BPF_REG_2, .src_reg = BPF_REG_1, .off = 4 },
        { .code = BPF_JMP | BPF_JEQ | BPF_K, .dst_reg = BPF_REG_2, .off = 3, .imm = 81 },
        { .code = BPF_JMP | BPF_JEQ | BPF_K, .dst_reg = BPF_REG_2, .off = 2, .imm = 116 },
        { .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 1 },
        { .code = BPF_JMP | BPF_EXIT },
        { .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0 },
        { .code = BPF_JMP | BPF_EXIT },
    };
    union bpf_attr attr;
    memset(&attr, 0, sizeof attr);
    attr.prog_type = BPF_PROG_TYPE_CGROUP_DEVICE;
    attr.insns = (unsigned long)program;
    attr.insn_cnt = sizeof program / sizeof *program;
    attr.license = (unsigned long)"GPL";
    int loaded = syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof attr);
    if (loaded < 0) return failed("BPF_PROG_LOAD");
    int folder = open(cgroup, O_DIRECTORY | O_RDONLY | O_CLOEXEC);
    if (folder < 0) return failed(cgroup);
    memset(&attr, 0, sizeof attr);
    attr.target_fd = folder;
    attr.attach_bpf_fd = loaded;
    attr.attach_type = BPF_CGROUP_DEVICE;
    if (syscall(SYS_bpf, BPF_PROG_ATTACH, &attr, sizeof attr)) return failed("BPF_PROG_ATTACH");
    int members = openat(folder, "cgroup.procs", O_WRONLY | O_CLOEXEC);
    if (members < 0 || write(members, "0", 1) != 1) return failed("cgroup.procs");
    return 0;
}

int main(int argc, char **argv)
{
    int skip = 2, status = 2;
    if (argc > 2 && !strcmp(argv[1], "landlock")) status = landlock(0);
    else if (argc > 2 && !strcmp(argv[1], "landlock-root")) status = landlock(1);
    else if (argc > 2 && !strcmp(argv[1], "seccomp")) status = seccomp(0);
    else if (argc > 2 && !strcmp(argv[1], "seccomp-all")) status = seccomp(1);
    else if (argc > 3 && !strcmp(argv[1], "devices")) { status = devices(argv[2]); skip = 3; }
    if (status) return status;
    execvp(argv[skip], argv + skip);
    return failed(argv[skip]);
}
