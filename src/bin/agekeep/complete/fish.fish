# Completion of agekeep for fish, which quotes what it inserts.
function __agekeep_complete
    set -l before (commandline -opc)
    set -l current (commandline -ct)
    command agekeep complete fish -- $before "$current" 2>/dev/null </dev/null
end
complete -c agekeep -f -k -a '(__agekeep_complete)'
