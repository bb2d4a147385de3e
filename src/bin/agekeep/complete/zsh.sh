#compdef agekeep
# Completion of agekeep for zsh. `compadd` quotes what it inserts.
_agekeep() {
    local line value
    local -a whole whole_shown open open_shown
    while IFS= read -r line; do
        value=${line%%$'\t'*}
        line=${line/$'\t'/  -- }
        if [[ $value == *[/:=] ]]; then
            open+=("$value") open_shown+=("$line")
        else
            whole+=("$value") whole_shown+=("$line")
        fi
    done < <(command agekeep complete zsh -- "${(@Q)words[1,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null </dev/null)
    (( $#whole )) && compadd -V agekeep -l -d whole_shown -- "${whole[@]}"
    (( $#open )) && compadd -V agekeep-open -l -S '' -d open_shown -- "${open[@]}"
    (( $#whole + $#open ))
}
if [[ $funcstack[1] == _agekeep ]]; then
    _agekeep "$@"
else
    compdef _agekeep agekeep
fi
