# Completion of agekeep for bash. The program prints each candidate as bash has to read it.
_agekeep() {
    local candidate
    COMPREPLY=()
    while IFS= read -r candidate; do
        COMPREPLY+=("$candidate")
    done < <(command agekeep complete bash -- "${COMP_LINE:0:COMP_POINT}" "$COMP_WORDBREAKS" 2>/dev/null </dev/null)
    if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *[/:=] ]]; then
        compopt -o nospace 2>/dev/null
    fi
}
complete -F _agekeep agekeep
