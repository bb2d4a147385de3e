import { createRequire } from 'node:module';

/** The path of the program that the package for this platform brings. */
export function bundled(): string | undefined {
  try {
    return createRequire(import.meta.url).resolve(`@agekeep/${process.platform}-${process.arch}/agekeep`);
  } catch {
    return undefined; // no such package is installed
  }
}
