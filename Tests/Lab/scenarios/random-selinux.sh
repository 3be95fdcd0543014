# boot: min
# image: selinux
# shellcheck shell=bash
# Arrangements as in `random`, most of them in a domain of SELinux, by its enforced policy.
mkdir -p /sys/fs/selinux
mountpoint -q /sys/fs/selinux || mount -t selinuxfs selinuxfs /sys/fs/selinux
load_policy -i
restorecon -RF /dev /run /home /lab /usr/local /tmp /srv 2>/dev/null
setenforce 1
status=0
python3 arrangements.py "${RANDOM_SEED:-1}" "${RANDOM_COUNT:-10}" ${RANDOM_ONLY:+"$RANDOM_ONLY"} 2>&1 || status=$?
check "no verdict on a random arrangement is wrong" [ $status = 0 ]
setenforce 0
