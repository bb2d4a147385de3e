// An agent that remembers: node quickstart.ts "Remember that ..." (Node 22.18 or later).
// Before: npm install agekeep @anthropic-ai/sdk, npx agekeep init, and ANTHROPIC_API_KEY set.
import Anthropic from '@anthropic-ai/sdk';
import { agekeepMemory } from 'agekeep';

const memory = await agekeepMemory({ actor: 'quickstart' });
const answer = await new Anthropic().beta.messages.toolRunner({
  model: 'claude-sonnet-5-5', max_tokens: 4096, tools: [memory],
  betas: ['context-management-2025-06-27'],
  messages: [{ role: 'user', content: process.argv[2]! }],
});
for (const block of answer.content) if (block.type === 'text') console.log(block.text);
await memory.close();
