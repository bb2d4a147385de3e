# Completion of agekeep for PowerShell. The program prints each candidate as PowerShell has to read it.
Register-ArgumentCompleter -Native -CommandName agekeep -ScriptBlock {
    param($current, $line, $cursor)
    $words = @($line.CommandElements | Where-Object { $_.Extent.StartOffset -lt $cursor } |
        ForEach-Object { $_.Extent.Text })
    if ($current -eq '') { $words += '""' }
    $program = (Get-Command -CommandType Application agekeep | Select-Object -First 1).Source
    & $program complete powershell -- @words 2>$null | ForEach-Object {
        $value, $help = $_ -split "`t", 2
        if (-not $help) { $help = $value }
        [System.Management.Automation.CompletionResult]::new($value, $value, 'ParameterValue', $help)
    }
}
