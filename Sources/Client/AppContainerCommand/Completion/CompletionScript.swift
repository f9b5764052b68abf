// The completion scripts of the parser, with functions of our own in the place of some of theirs.

/// The differences from the parser's scripts: a value may be a word for the shell's own completion of paths; errors of
/// the command stay out of the line that is being typed; fish finds directories whose names have blanks; and bash keeps
/// no trap that would undo the user's options whenever a later script is read.
enum CompletionScript {
    /// The script as it is to be installed; any other text as it is.
    static func corrected(_ text: String) -> String {
        if text.hasPrefix("#!/bin/bash\n") { return replacing(bash, ending: "\n}\n", in: text) }
        if text.hasPrefix("#compdef appcontainer\n") { return replacing(zsh, ending: "\n}\n", in: text) }
        if text.hasPrefix("function __appcontainer_") {
            // The place of the cursor in its word: a fish without a terminal refuses to tell, and nobody here asks.
            let text = text.replacing("(__appcontainer_tokens -tC)", with: "0")
            return replacing(fish, ending: "\nend\n", in: text)
        }
        return text
    }

    /// The text with functions, and single lines, replaced by others.
    private static func replacing(_ parts: [(begin: String, new: String)], ending: String, in text: String) -> String {
        var text = text
        for (begin, new) in parts {
            guard let start = text.firstRange(of: begin) else { continue }
            // A function ends with the first line that ends one; a line with itself.
            let end = begin.hasSuffix("\n") ? text[start.lowerBound...].firstRange(of: ending)?.upperBound : nil
            text.replaceSubrange(start.lowerBound..<(end ?? start.upperBound), with: new)
        }
        return text
    }

    private static let bash = [
        (begin: #"trap "${state//$'\n'/;}" RETURN"#, new: #"trap "${state//$'\n'/;};trap - RETURN" RETURN"#),
        (
            begin: #""${COMP_WORDS[0]}" "${@}" "${words[@]}""#,
            new: #""${COMP_WORDS[0]}" "${@}" "${words[@]}" 2>/dev/null"#
        ),
        (
            begin: "__appcontainer_add_completions() {\n",
            new: #"""
            __appcontainer_add_completions() {
                local completion paths=''
                local -a generator=("${@}")
                if [[ "${1}" = -W ]]; then
                    case "${2}" in
                    *:files) paths=-f ;;
                    *:directories) paths=-d ;;
                    esac
                    generator[1]="${2%:files}"
                    generator[1]="${generator[1]%:directories}"
                fi
                while IFS='' read -r completion; do
                    [[ -z "${completion}" ]] || COMPREPLY+=("${completion}")
                done < <(
                    IFS=$'\n' compgen "${generator[@]}" -- "${cur}"
                    [[ -z "${paths}" ]] || compgen "${paths}" -- "${cur}"
                )
            }

            """#
        ),
    ]

    private static let zsh = [
        (
            begin: "__appcontainer_custom_complete() {\n",
            new: #"""
            __appcontainer_custom_complete() {
                local -a found values begun
                local -i ret=1
                found=("${(@f)"$("${command_name}" "${@}" "${command_line[@]}" 2>/dev/null)"}")
                values=("${(@)found:#(| |:files|:directories|*/)}")
                begun=("${(@M)found:#*/}")
                (( ${#values} )) && compadd -- "${values[@]}" && ret=0
                (( ${#begun} )) && compadd -S '' -- "${begun[@]}" && ret=0
                (( ${found[(Ie):files]} )) && _files && ret=0
                (( ${found[(Ie):directories]} )) && _files -/ && ret=0
                return "${ret}"
            }

            """#
        )
    ]

    private static let fish = [
        (
            begin: "function __appcontainer_complete_directories\n",
            new: #"""
            function __appcontainer_complete_directories
                __fish_complete_directories (commandline -ct) ''
            end

            """#
        ),
        (
            begin: "function __appcontainer_custom_completion\n",
            new: #"""
            function __appcontainer_custom_completion
                set -x SAP_SHELL fish
                set -x SAP_SHELL_VERSION $FISH_VERSION
                set -l tokens (__appcontainer_tokens -p)
                if test -z "$(__appcontainer_tokens -t)"
                    set -l index (count (__appcontainer_tokens -pc))
                    set tokens $tokens[..$index] '' $tokens[(math $index + 1)..]
                end
                command -q $tokens[1]; or return
                for found in (command $tokens[1] $argv $tokens 2>/dev/null)
                    switch $found
                        case ''
                        case ':files'
                            complete -C "'' "(commandline -ct)
                        case ':directories'
                            __fish_complete_directories (commandline -ct) ''
                        case '*'
                            printf '%s\n' $found
                    end
                end
            end

            """#
        ),
    ]
}
