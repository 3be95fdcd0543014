extension CompletionScript {
  /// What follows the parser's script for bash.
  static var bash: String {
    #"""
    # Sets words to the words up to the cursor, which readline also splits at "=" and ":".
    __permcheck_words() {
        local rest="${COMP_LINE:0:COMP_POINT}" word
        local -i i
        for ((i = 0; i <= COMP_CWORD; i++)); do
            if [[ "${i}" -eq 0 || "${rest}" = [[:space:]]* ]]; then words+=(''); fi
            rest="${rest#"${rest%%[![:space:]]*}"}"
            # The last word ends at the cursor.
            word="${COMP_WORDS[i]}"
            if [[ "${i}" -eq "${COMP_CWORD}" ]]; then word="${rest}"; fi
            words[${#words[@]} - 1]+="${word}"
            rest="${rest#"${word}"}"
        done
    }

    # Readline quotes files, and gives only folders a slash: no name or command that is also a folder.
    # compgen -W would expand the words, and anybody who may name a group or a user could run a command.
    __permcheck_add_completions() {
        local completion
        if [[ "${1}" = -W ]]; then
            while IFS='' read -r completion; do
                if [[ -z "${completion}" || "${completion}" != "${cur}"* ]]; then continue; fi
                printf -v completion %q "${completion}"
                COMPREPLY+=("${completion}")
            done <<<"${2}"
            return
        fi
        if [[ "${1}" = -[df] ]]; then compopt -o filenames 2>/dev/null; fi
        while IFS='' read -r completion; do
            COMPREPLY+=("${completion}")
        done < <(IFS=$'\n' compgen "${@}" -- "${cur}")
    }

    # Completes a command and its arguments, the words from this number on.
    __permcheck_command() {
        COMP_WORDS=("${words[@]:${1}}")
        COMP_CWORD="$((${#COMP_WORDS[@]} - 1))"
        COMP_LINE="${COMP_WORDS[*]}"
        COMP_POINT="${#COMP_LINE}"
        local -r cur="${COMP_WORDS[COMP_CWORD]}"
        if declare -F _command_offset >/dev/null; then
            compopt -o filenames 2>/dev/null
            _command_offset 0
        elif [[ "${COMP_CWORD}" -eq 0 && "${cur}" != */* ]]; then
            __permcheck_add_completions -c
        else
            __permcheck_add_completions -f
        fi
    }

    _permcheck_line() {
        local -a words=()
        local -i i
        COMPREPLY=()
        __permcheck_words
        for ((i = 2; i < ${#words[@]} - 1; i++)); do
            if [[ "${words[1]}" = run && "${words[i]}" = -- ]]; then
                __permcheck_command "$((i + 1))"
                return
            fi
        done
        local -r whole="${words[${#words[@]} - 1]}"
        local cur="${whole}" command="${words[1]}" word
        COMP_WORDS=(permcheck)
        case "${command}" in
        \#(commandPattern)) if [[ "${#words[@]}" -eq 2 ]]; then command=check; COMP_WORDS+=(check); fi ;;
        # A name, or an option.
        *) command=check; COMP_WORDS+=(check) ;;
        esac
        for word in "${words[@]:1}"; do
            if [[ "${word}" = --*=* ]]; then COMP_WORDS+=("${word%%=*}"); word="${word#*=}"; fi
            COMP_WORDS+=("${word}")
        done
        COMP_CWORD="$((${#COMP_WORDS[@]} - 1))"
        local -r prev="${COMP_WORDS[COMP_CWORD - 1]}"
        if [[ "${whole}" = [!-]*=* ]]; then
            cur="${whole#*=}"
            cur="${cur#[\"\']}"
            # The path of a name is absolute.
            cur="${cur:-/}" __permcheck_add_completions -f
        elif [[ "${command}" =~ ^(explain|audit)$ && "${whole}" = */* && "${prev}" != --* ]]; then
            __permcheck_add_completions -f
        else
            if [[ "${whole}" = --*=* ]]; then
                cur="${whole#*=}"
                cur="${cur#[\"\']}"
            fi
            _permcheck permcheck "${cur}" "${prev}"
            if [[ "${#words[@]}" -eq 2 && "${whole}" != -* || "${command}" = help ]]; then
                __permcheck_add_completions -W $'\#(commands.split(separator: " ").joined(separator: #"\n"#))'
            fi
        fi
        # Readline replaces only the last piece.
        local -r before="${whole%"${cur}"}" replaced="${whole%"${2}"}"
        for i in "${!COMPREPLY[@]}"; do
            word="${before}${COMPREPLY[i]}"
            COMPREPLY[i]="${word#"${replaced}"}"
        done
    }
    complete -F _permcheck_line permcheck
    """#
  }
}
