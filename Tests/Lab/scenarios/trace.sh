# boot: full
# shellcheck shell=bash
# shellcheck disable=SC2016,SC2154
# What permcheck trace sees, held against strace and against what programs met; here the kernel allows programs at
# functions, so the paths are its own copies.
mkdir -m 755 "$lab_tmp/place"
section "as strace sees it"
for way in bpf ptrace; do
    check "programs, with v4l2-ctl and arecord, by $way" env LIMIT=600 python3 complete.py "$lab_tmp/place" "$PWD/permcheck" $way
done

section "a service"
cat >/run/systemd/system/lab-trace.service <<'END'
[Service]
User=tester
DevicePolicy=closed
ExecStart=/bin/sh -c 'while :; do v4l2-ctl -d /dev/video0 --all; cat /etc/shadow; sleep 0.2; done'
END
systemctl daemon-reload
systemctl start lab-trace
pid=$(systemctl show -P MainPID lab-trace)
permcheck trace -p "$pid" --for 8s --format plain -o "$lab_tmp/refusals"
seen() { grep -P "\t$1\topenat?\t$2\t" "$lab_tmp/refusals"; }
check "the camera, which mode and unit refuse" seen 'E(ACCES|PERM)' /dev/video0
check "a file" seen EACCES /etc/shadow
check "counted together" [ "$(seen EACCES /etc/shadow | wc -l)" = 1 ]
systemctl stop lab-trace

section "a user"
as tester permcheck trace -- true >"$lab_tmp/refused" 2>&1
check "is told why it is not BPF" grep -q 'CAP_BPF and CAP_PERFMON' "$lab_tmp/refused"
permcheck trace -o "$lab_tmp/refusals" --format plain -u other -- arecord -q -d 1 -f S16_LE /dev/null
check "arecord" seen EACCES '/dev/snd/\S+'
check "all of it is written" [ -s "$lab_tmp/refusals" ]
