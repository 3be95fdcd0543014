extension CompletionScript {
  /// What precedes the parser's script for zsh.
  static var zsh: String {
    #"""
    _permcheck() {
        local -a given=("${words[@]}")
        local -i is_first="$((CURRENT == 2))" end ret=1
        # A command follows run … --.
        if [[ "${words[2]}" = run ]]; then
            end="${words[(i)--]}"
            if [[ "${end}" -lt "${CURRENT}" ]]; then
                words=("${(@)words[end + 1,-1]}")
                ((CURRENT -= end))
                _normal
                return
            fi
        fi
        if [[ "${PREFIX}" = --*=* ]]; then
            # An option and its value.
            is_first=0
            words[CURRENT]=("${PREFIX%%=*}" "${PREFIX#*=}")
            ((CURRENT++))
            compset -P 1 '*='
        elif [[ "${PREFIX}" = [^-]*=* ]]; then
            # A name and its path, which is absolute.
            compset -P 1 '*='
            if [[ "${PREFIX}" = [/~]* ]]; then _files; else _files -P / -W /; fi
            return
        elif [[ "${words[2]}" == (explain|audit) && "${PREFIX}" = */* && "${words[CURRENT - 1]}" != --* ]]; then
            _files
            return
        fi
        if [[ "${is_first}" -eq 0 || "${PREFIX}" = -* ]]; then
            case "${words[2]}" in
            \#(commandPattern)) ;;
            # A name, or an option.
            *) words=("${words[1]}" check "${(@)words[2,-1]}"); ((CURRENT++)) ;;
            esac
        else
            # A command, or a name.
            _permcheck_parsed && ret=0
            words=("${given[1]}" check "${(@)given[2,-1]}")
            CURRENT=3
        fi
        if [[ "${words[2]}" = help ]]; then
            local -ar commands=(\#(commands))
            _describe -V command commands && ret=0
        else
            _permcheck_parsed && ret=0
        fi
        return "${ret}"
    }

    """#
  }
}
