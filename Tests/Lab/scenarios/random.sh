# boot: full
# shellcheck shell=bash
# Arrangements of units, sessions, labels and namespaces, drawn at random; the seed is fixed, but for run --random.
lab-seat true
status=0
python3 arrangements.py "${RANDOM_SEED:-1}" "${RANDOM_COUNT:-30}" ${RANDOM_ONLY:+"$RANDOM_ONLY"} 2>&1 || status=$?
check "no verdict on a random arrangement is wrong" [ $status = 0 ]
