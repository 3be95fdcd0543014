# Runs named steps that stand alone; Scripts/check and Scripts/full source this file.
#
# A script calls `step` once for each step, in order, defines a function `run_STEP` for each, with `-` as `_`, and
# ends with `run_steps "$@"`. A step fails by its exit status; 75 says that it could not be judged here (no network, no
# machine). A step adds tests to the closing line by `passed N`.

step_names=()
declare -A step_limit=() step_needs=() step_about=()

# step NAME SECONDS NEEDS ABOUT: NEEDS are the steps without which this one cannot run, separated by spaces.
step() {
  local need
  for need in $3; do
    [ -n "${step_limit[$need]-}" ] || { echo "step $1 needs $need, which is no step before it" >&2; exit 70; }
  done
  step_names+=("$1")
  step_limit[$1]=$2 step_needs[$1]=$3 step_about[$1]=$4
}

# passed N: the step has run N tests, and all of them passed.
passed() {
  [[ $1 =~ ^[0-9]{1,9}$ ]] || fail "passed $1: expected a number of tests"
  echo "$1" >>"$STEPS_PASSED"
}

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
    [ -n "${STEPS_WORK-}" ] || { echo "$self: run a step as $self NAME" >&2; exit 64; }
    set -euo pipefail
    "run_${2//-/_}"
    exit 0
  fi
  local name
  if [ "$*" = --list ]; then
    for name in "${step_names[@]}"; do printf '%-16s %s\n' "$name" "${step_about[$name]}"; done
    exit 0
  fi
  local -A wanted=()
  for name in "$@"; do
    [[ -n $name && -n ${step_limit[$name]-} ]] || { echo "$self: there is no step $name; see $self --list" >&2; exit 64; }
    want_step "$name"
  done
  [ $# -gt 0 ] || for name in "${step_names[@]}"; do wanted[$name]=1; done

  steps_work=$(mktemp -d) || exit 1
  trap 'rm -rf "$steps_work"' EXIT
  # Who ends this script, at a terminal or as a job, ends the step, and still sees what there is.
  steps_child='' steps_signal=''
  for name in INT TERM HUP; do
    # shellcheck disable=SC2064
    trap "steps_signal=$name; [ -z \"\$steps_child\" ] || kill -TERM \"\$steps_child\" 2>/dev/null" $name
  done
  # What steps write beside what they print: how many tests passed, and files of their own.
  export STEPS_PASSED=$steps_work/passed STEPS_NOTES=$steps_work/notes STEPS_WORK=$steps_work/files
  mkdir "$STEPS_WORK" && : >"$STEPS_NOTES" || exit 1
  local status began took need why count tests=0 table=() red=0 unjudged=0
  local -A result=()
  SECONDS=0
  for name in "${step_names[@]}"; do
    [ -n "${wanted[$name]-}" ] || continue
    took=0 why="$self $name"
    for need in ${step_needs[$name]}; do
      case ${result[$need]-ok} in
      ok) ;;
      'not judged') result[$name]='not judged' why="it needs $need" ;;
      *) result[$name]='not run' why="it needs $need" ;;
      esac
    done
    [ -z "$steps_signal" ] || result[$name]='not run'
    if [ -z "${result[$name]-}" ]; then
      echo "== $name ($SECONDS s)"
      began=$SECONDS status=0
      : >"$STEPS_PASSED"
      # A step that is stopped by its limit has time to end what it began.
      timeout -k 15 "${step_limit[$name]}" bash "$self" --step "$name" </dev/null >"$steps_work/$name" 2>&1 &
      steps_child=$!
      wait "$steps_child" || status=$?
      # A signal ends the wait, and not the step.
      while kill -0 "$steps_child" 2>/dev/null; do wait "$steps_child" || status=$?; done
      steps_child=''
      took=$((SECONDS - began))
      # In the log of a job, a step is seen in whole; its red lines are repeated at the end.
      sed -e '$a\' "$steps_work/$name"
      case $status in
      0) result[$name]=ok ;;
      75) result[$name]='not judged' ;;
      *) result[$name]=red ;;
      esac
      if [ "$status" -ge 124 ] && [ "${result[$name]}" = red ]; then
        why="$self $name"
        if [ -n "$steps_signal" ]; then echo "$self: $name was ended by SIG$steps_signal"
        elif [ $took -ge "${step_limit[$name]}" ]; then echo "$self: $name did not end within ${step_limit[$name]} s"
        else echo "$self: $name ended with status $status"; fi | tee -a "$steps_work/$name"
      fi
    fi
    case ${result[$name]} in
    ok)
      # A step without tests of its own is one.
      count=0
      while read -r need; do count=$((count + need)); done <"$STEPS_PASSED"
      tests=$((tests + (count > 0 ? count : 1))) why=''
      ;;
    'not judged') unjudged=$((unjudged + 1)) ;;
    *) red=$((red + 1)) ;;
    esac
    table+=("$(printf '%7d  %-10s  %-14s  %s' $took "${result[$name]}" "$name" "$why")")
  done

  for name in "${step_names[@]}"; do
    [ -s "$steps_work/$name" ] || continue
    case ${result[$name]-ok} in ok | 'not run') continue ;; esac
    echo "== $name is ${result[$name]}; the end of what it printed:"
    tail -n 40 "$steps_work/$name" | cut -c 1-1000
  done
  echo "seconds  result      step            repeat it by"
  printf '%s\n' "${table[@]}"
  printf '%7d  in all\n' $SECONDS
  cat "$STEPS_NOTES"
  [ $unjudged = 0 ] || echo "$self: $unjudged steps could not be judged here"
  # The closing line in any language: the tests of all green steps.
  echo "$tests passed, $red failed"
  case $steps_signal in INT) exit 130 ;; TERM) exit 143 ;; HUP) exit 129 ;; esac
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
