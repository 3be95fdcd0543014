import ArgumentParser
@_spi(SystemCalls) import PermissionKit

/// The completions of a shell: the parser's script, with additions.
///
/// The parser's script knows the commands, the options, and their values. It does not know that
/// `permcheck NAME` means `permcheck check NAME`, that `=PATH` may follow a name, and that a
/// command follows `run … --`.
enum CompletionScript {
  private static let option = "--generate-completion-script"

  /// Returns the script for these arguments; nil if they do not ask for one.
  static func requested(_ arguments: [String], _ system: any System) -> String? {
    guard let first = arguments.first, first.hasPrefix(option) else { return nil }
    var name: String?
    if first.hasPrefix(option + "=") {
      name = String(first.dropFirst(option.count + 1))
    } else if first == option {
      name = arguments.count > 1 ? arguments[1] : shellName(system)
    }
    // The parser refuses other shells.
    return name.flatMap(CompletionShell.init(rawValue:)).map(script)
  }

  /// Returns the name of the user's shell.
  private static func shellName(_ system: any System) -> String? {
    system.getenv("SHELL")?.description.parts(by: "/").last.map(String.init)
  }

  /// Returns the script of a shell.
  static func script(of shell: CompletionShell) -> String {
    let lines = Permcheck.completionScript(for: shell).parts(
      by: "\n", omittingEmptySubsequences: false
    ).map(String.init)
    switch shell {
    case .bash: return (lines + ["", bash]).joined(separator: "\n")
    case .fish:
      // The first word is a command, or already an argument of check.
      let condition = "__permcheck_should_offer_completions_for_positional \"permcheck\" -eq 1"
      let start = "complete -c 'permcheck' -n '"
      let changed = lines.map { line in
        guard line.hasPrefix(start + condition) else { return line }
        return start + "__permcheck_is_first" + line.dropFirst(start.count + condition.count)
      }
      return (changed + ["", fish]).joined(separator: "\n")
    default:
      // The first line names the command, and the last lines call _permcheck.
      let rest = lines.dropFirst().map { $0 == "_permcheck() {" ? "_permcheck_parsed() {" : $0 }
      return ([lines[0], "", zsh] + rest).joined(separator: "\n")
    }
  }

  /// The commands, for a list of words.
  static let commands = (["check", "explain"] + FastArguments.others).joined(separator: " ")

  /// The commands, for a pattern of `case`.
  static let commandPattern = (["check", "explain"] + FastArguments.others).joined(separator: "|")
}

extension CompletionScript {
  /// The text after the parser's script for bash.
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
                __permcheck_add_completions -W $'\#(commands.parts(by: " ").joined(separator: #"\n"#))'
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

extension CompletionScript {
  /// The text after the parser's script for fish.
  static var fish: String {
    #"""
    # The words; permcheck NAME is permcheck check NAME.
    function __permcheck_tokens
        set -l tokens (__permcheck_words $argv)
        contains -- -- $tokens[2..]; and return
        contains -- "$tokens[2]" \#(commands)
        or set tokens $tokens[1] check $tokens[2..]
        set tokens[1] permcheck
        printf '%s\n' $tokens
    end

    function __permcheck_words
        if test (string split -m 1 -f 1 -- . "$FISH_VERSION") -gt 3
            commandline --tokens-raw $argv
        else
            commandline -o $argv
        end
    end

    # The first word, or what help explains.
    function __permcheck_is_first
        set -l tokens (__permcheck_words -pc)
        test (count $tokens) -eq 1; or test "$tokens[2]" = help
    end

    # NAME=PATH, or a path to explain or audit; the path of a name is absolute.
    function __permcheck_is_path
        set -l word (commandline -ct)
        set -l tokens (__permcheck_words -pc)
        string match -q -- '-*' $word; and return 1
        string match -q -- '*=?*' $word; and return 0
        string match -q -- '*/*' $word; and contains -- "$tokens[2]" explain audit
    end
    complete -c permcheck -n __permcheck_is_path -F

    function __permcheck_wants_path
        string match -qr -- '^[^-].*=$' (commandline -ct)
    end
    complete -c permcheck -n __permcheck_wants_path -a '(commandline -ct)/'

    # The command after run … --.
    function __permcheck_command
        set -l tokens (__permcheck_words -pc)
        set -l end (contains -i -- -- $tokens)
        set -l words (string escape -- $tokens[(math $end + 1)..])
        complete -C (string join ' ' -- $words (commandline -ct))
    end

    function __permcheck_has_command
        set -l tokens (__permcheck_words -pc)
        test "$tokens[2]" = run; and contains -- -- $tokens
    end
    complete -c permcheck -n __permcheck_has_command -a '(__permcheck_command)'

    """#
  }
}

extension CompletionScript {
  /// The text before the parser's script for zsh.
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
