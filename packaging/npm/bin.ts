#!/usr/bin/env node
// `agekeep`: the program of the package for this platform, with this one's arguments, pipes and signals.
import { spawn } from 'node:child_process';
import { bundled } from './bundled.ts';

const platform = `${process.platform}-${process.arch}`;
const program = bundled();
if (program === undefined) {
  console.error(
    `agekeep: the package @agekeep/${platform} is not installed. Install agekeep again with its optional ` +
      'dependencies; if there is none for this platform, build agekeep from its source.',
  );
  process.exit(1);
}
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const child = spawn(program, process.argv.slice(2), { stdio: 'inherit', argv0: 'agekeep' });
for (const signal of signals) process.on(signal, () => child.kill(signal));
child.on('error', (error) => {
  console.error(`agekeep: cannot run ${program}: ${error.message}. Install the package again.`);
  process.exit(1);
});
child.on('exit', (code, signal) => {
  for (const name of signals) process.removeAllListeners(name);
  if (signal) process.kill(process.pid, signal);
  else process.exit(code ?? 1);
});
