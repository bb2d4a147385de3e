// The tool runner that the quickstart does not show: streaming, with each call run while the reply still streams.
import Anthropic from '@anthropic-ai/sdk';
import { agekeepMemory } from 'agekeep';

const memory = await agekeepMemory({ actor: 'planner', session: 's-17', reason: 'asked to remember' });
const runner = new Anthropic().beta.messages.toolRunner({
  model: 'claude-sonnet-5-5',
  max_tokens: 4096,
  betas: ['context-management-2025-06-27'],
  tools: [memory],
  stream: true,
  runToolsEagerly: true,
  messages: [{ role: 'user', content: 'Remember what we did.' }],
});
for await (const stream of runner) await stream.finalMessage();
for (const block of (await runner.done()).content) if (block.type === 'text') console.log(block.text);
await memory.close();
