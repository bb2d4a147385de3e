// Every case of the contract through the TypeScript adapter: contract.ts CASES STORES. Case n has a
// store of its own, STORES/n. Each answer is printed as a line of JSON.
import { readFileSync } from 'node:fs';
import { ToolError } from '@anthropic-ai/sdk/lib/tools/ToolError';
import { agekeepMemory } from 'agekeep';

const [cases = '', stores = ''] = process.argv.slice(2);
type Case = { steps: { input: unknown }[] };
for (const [number, { steps }] of (JSON.parse(readFileSync(cases, 'utf8')).cases as Case[]).entries()) {
  // All the stores are copies of one, and what was seen of a copy would tell on the next.
  process.env.XDG_STATE_HOME = `${stores}/state-${number}`;
  const memory = await agekeepMemory({ store: `${stores}/${number}` });
  for (const { input } of steps) {
    const answer = await memory.run(input).then(
      (content) => ({ content, is_error: false }),
      (error) => ({ content: error instanceof ToolError ? error.content : `${error}`, is_error: true }),
    );
    console.log(JSON.stringify(answer));
  }
  await memory.close();
}
