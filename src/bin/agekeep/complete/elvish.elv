# Completion of agekeep for elvish, which quotes what it inserts.
use str
set edit:completion:arg-completer[agekeep] = {|@words|
  try {
    (external agekeep) complete elvish -- $@words 2>/dev/null </dev/null | from-lines | each {|line|
      var value @help = (str:split "\t" $line)
      var end = ' '
      if (or (str:has-suffix $value /) (str:has-suffix $value :) (str:has-suffix $value =)) {
        set end = ''
      }
      if (eq $help []) {
        edit:complex-candidate $value &code-suffix=$end
      } else {
        edit:complex-candidate $value &code-suffix=$end &display=$value'  -- '$help[0]
      }
    }
  } catch { nop }
}
