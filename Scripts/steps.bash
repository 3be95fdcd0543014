# Runs named steps that stand alone; Scripts/check and Scripts/full source this file.
#
# A script calls `step` once for each step, in order, defines a function `run_STEP` for each, with `-` as `_`, and
# ends with `run_steps "$@"`. A step fails by its exit status; 75 says that it could not be judged here (no network, no
# machine). A step adds tests to the closing line by `passed N`.

step_names=()
declare -A step_limit=() step_needs=() step_about=()

# step NAME SECONDS NEEDS ABOUT: NEEDS are the steps without which this one cannot run, separated by spaces.
step() {
  step_names+=("$1")
  step_limit[$1]=$2 step_needs[$1]=$3 step_about[$1]=$4
}

# passed N: the step has run N tests, and all of them passed.
passed() { echo "$1" >>"$STEPS_PASSED"; }

# note TEXT: said in the last lines, whatever the result is.
note() { echo "$*" >>"$STEPS_NOTES"; }

# fail TEXT: ends a step, with what is wrong.
fail() { echo "$(basename "$0"): $*" >&2; exit 1; }

# cannot_judge TEXT: ends a step that cannot run here; it counts neither as passed nor as failed.
cannot_judge() { echo "$(basename "$0"): $*" >&2; exit 75; }

# run_steps: all steps;  --list: their names;  NAME...: these steps, after those that they need.
run_steps() {
  local self=Scripts/${0##*/}
  if [ "${1-}" = --step ]; then # in a process of its own, which has the limit of time
    set -euo pipefail
    "run_${2//-/_}"
    exit 0
  fi
  if [ "${1-}" = --list ]; then
    local name
    for name in "${step_names[@]}"; do printf '%-16s %s\n' "$name" "${step_about[$name]}"; done
    exit 0
  fi
  local -A wanted=()
  local name
  for name in "$@"; do
    [ -n "${step_limit[$name]-}" ] || { echo "$self: there is no step $name; see $self --list" >&2; exit 64; }
    want_step "$name"
  done
  [ $# -gt 0 ] || for name in "${step_names[@]}"; do wanted[$name]=1; done

  local work status began took need table=() red=0 unjudged=0
  local -A result=()
  work=$(mktemp -d)
  # shellcheck disable=SC2064
  trap "rm -rf '$work'" EXIT
  # What steps write beside what they print: how many tests passed, and files of their own.
  export STEPS_PASSED=$work/passed STEPS_NOTES=$work/notes STEPS_WORK=$work/files
  : >"$STEPS_PASSED" >"$STEPS_NOTES"
  mkdir "$STEPS_WORK"
  SECONDS=0
  for name in "${step_names[@]}"; do
    [ -n "${wanted[$name]-}" ] || continue
    for need in ${step_needs[$name]}; do
      [ "${result[$need]-ok}" = ok ] || result[$name]='not run'
    done
    took=0
    if [ -z "${result[$name]-}" ]; then
      echo "== $name ($SECONDS s)"
      began=$SECONDS status=0
      # A step that is stopped by its limit has time to end what it began.
      timeout -k 15 "${step_limit[$name]}" bash "$self" --step "$name" </dev/null >"$work/$name" 2>&1 || status=$?
      took=$((SECONDS - began))
      # In the log of a job, a step is seen in whole; its red lines are repeated at the end.
      cat "$work/$name"
      case $status in
      0) result[$name]=ok ;;
      75) result[$name]='not judged' ;;
      124 | 137) result[$name]=red; echo "$self: $name did not end within ${step_limit[$name]} s" | tee -a "$work/$name" ;;
      *) result[$name]=red ;;
      esac
    fi
    case ${result[$name]} in
    ok) ;;
    'not judged') unjudged=$((unjudged + 1)) ;;
    *) red=$((red + 1)) ;;
    esac
    table+=("$(printf '%7d  %-10s  %-14s  %s' $took "${result[$name]}" "$name" \
      "$([ "${result[$name]}" = ok ] || echo "$self $name")")")
  done

  for name in "${step_names[@]}"; do
    case ${result[$name]-ok} in ok | 'not run') continue ;; esac
    echo "== $name is ${result[$name]}; the end of what it printed:"
    tail -n 40 "$work/$name" | cut -c 1-1000
  done
  echo "seconds  result      step            repeat it by"
  printf '%s\n' "${table[@]}"
  printf '%7d  in all\n' $SECONDS
  cat "$STEPS_NOTES"
  local tests
  tests=$(awk '{ sum += $1 } END { print sum + 0 }' "$STEPS_PASSED")
  [ $unjudged = 0 ] || echo "$self: $unjudged steps could not be judged here"
  # The closing line in any language: the tests of all steps. A step without tests of its own is one.
  echo "$((tests + ${#table[@]} - red - unjudged)) passed, $red failed"
  [ $red = 0 ] || exit 1
  [ $unjudged = 0 ] || exit 75
  exit 0
}

# Adds a step and what it needs to the wanted ones.
want_step() {
  local need
  wanted[$1]=1
  for need in ${step_needs[$1]}; do want_step "$need"; done
}
