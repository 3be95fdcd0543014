# boot: full
# image: boxes
# shellcheck shell=bash
# What permcheck prints in sandboxes is carried out to the letter, and everything is used again.
status=0
python3 fixes.py sandboxes 2>&1 || status=$?
check "every fix works, and takes nothing away" [ $status = 0 ]
