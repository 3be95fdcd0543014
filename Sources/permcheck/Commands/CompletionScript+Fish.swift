extension CompletionScript {
  /// What follows the parser's script for fish.
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
