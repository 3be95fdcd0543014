# boot: full
# shellcheck shell=bash
# What permcheck prints in units is carried out to the letter, and everything is used again.
status=0
python3 fixes.py units 2>&1 || status=$?
check "every fix works, and takes nothing away" [ $status = 0 ]
