// What goes wrong with processes, promises and texts, and what the TypeScript adapter makes of it.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { afterEach, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { ToolError } from '@anthropic-ai/sdk/lib/tools/ToolError';
import { AgekeepError, agekeepMemory, type AgekeepOptions } from 'agekeep';

const UNAVAILABLE = 'Error: the memory cannot be opened. Go on without it, and tell a person.';
const UNSURE =
  'Error: the memory stopped before it answered, so this may or may not have been done. ' +
  'View what it is about before you try again.';
const HERE = import.meta.dirname;
const MARK = `${HERE}/mark-${process.pid}`;
const LOSSY = ['/usr/bin/env', 'python3', `${HERE}/lossy.py`, MARK, 'agekeep', 'tool'] as const;
const ECHO = ['/usr/bin/env', 'python3', `${HERE}/echo.py`] as const;

type Memory = Awaited<ReturnType<typeof agekeepMemory>>;

const create = (name: string, text = 'x') => ({ command: 'create', path: `/memories/${name}`, file_text: text });
const view = (name: string) => ({ command: 'view', path: `/memories/${name}` });
const created = (name: string) => `File created successfully at: /memories/${name}`;
const shown = (name: string, text: string) => {
  const lines = text.split('\n').map((line, at) => `${at + 1}`.padStart(6) + `\t${line}`);
  return `Here's the content of /memories/${name} with line numbers:\n${lines.join('\n')}`;
};
const lose = () => writeFileSync(MARK, '');

function children(): number[] {
  const isMine = (pid: string) => {
    try {
      return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ')[1] === `${process.pid}`;
    } catch {
      return false;
    }
  };
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name) && isMine(name)).map(Number);
}

function theChild(): number {
  const [child, ...more] = children();
  assert.deepEqual(more, []);
  return child!;
}

/** Stops a child, so that a call is in the middle until it goes on or is killed. */
async function stop(pid: number) {
  process.kill(pid, 'SIGSTOP');
  while (readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.[0] !== 'T') await sleep(1);
}

async function isGone(pid: number) {
  for (let tries = 0; tries < 1000 && existsSync(`/proc/${pid}`); tries++) await sleep(10);
  return !existsSync(`/proc/${pid}`);
}

/** Events as "command outcome", oldest first; of one path, or of all. */
function log(name?: string): string[] {
  const lines = execFileSync('agekeep', ['log', '--json'], { encoding: 'utf8', maxBuffer: 1 << 26 });
  const events = lines.trimEnd().split('\n').map((line) => JSON.parse(line)).reverse();
  const wanted = events.filter((event) => name === undefined || event.path === `/memories/${name}`);
  return wanted.map((event) => `${event.command} ${event.outcome}`);
}

async function withMemory(options: AgekeepOptions, work: (memory: Memory) => Promise<void>) {
  const memory = await agekeepMemory(options);
  try {
    await work(memory);
  } finally {
    await memory.close();
  }
}

async function refused(answer: unknown, text: string | RegExp) {
  await assert.rejects(answer as Promise<unknown>, (error) => {
    assert.ok(error instanceof ToolError);
    if (typeof text === 'string') assert.equal(error.content, text);
    else assert.match(error.content as string, text);
    return true;
  });
}

afterEach(() => assert.deepEqual(children(), [], 'no child is left'));

test('no store', async () => {
  const store = `${HERE}/no-store`;
  await assert.rejects(agekeepMemory({ store }), (error) => {
    assert.ok(error instanceof AgekeepError);
    assert.match(error.message, /^error: no store at .*\nhint: create one with `agekeep init --store/);
    return true;
  });
});

test('no agekeep, or something else in its place', async () => {
  await assert.rejects(agekeepMemory({ command: ['nonesuch'] }), /cannot run nonesuch: .* Is it installed\?/);
  for (const word of ['hello', 'null'])
    await assert.rejects(agekeepMemory({ command: ['echo', word] }), { message: 'echo ended' });
});

test('closed twice', () =>
  withMemory({}, async (memory) => {
    const child = theChild();
    await memory.close();
    assert.ok(await isGone(child));
    await memory.close();
    await refused(memory.run(view('')), UNAVAILABLE);
  }));

test('a program that forgets to close it still ends, and the child with it', async () => {
  for (const [how, status] of [['', 0], ['process.kill(process.pid, 9)', null]] as const) {
    const program =
      `import { agekeepMemory } from '${HERE}/agekeep/index.ts';` +
      `const memory = await agekeepMemory({ command: ['sh', '-c', 'echo $$ > child; exec agekeep tool'] });` +
      `await memory.run({ command: 'view', path: '/memories' }); ${how}`;
    const options = { cwd: HERE, encoding: 'utf8', timeout: 20000 } as const;
    const run = spawnSync(process.execPath, ['--input-type=module', '-e', program], options);
    assert.equal(run.status, status, run.stderr);
    assert.ok(await isGone(Number(readFileSync(`${HERE}/child`, 'utf8'))));
  }
});

test('killed between calls', () =>
  withMemory({}, async (memory) => {
    for (const name of ['k1.md', 'k2.md']) {
      const first = theChild();
      process.kill(first, 'SIGKILL');
      assert.ok(await isGone(first));
      assert.equal(await memory.run(create(name)), created(name));
      assert.notEqual(theChild(), first);
    }
    assert.deepEqual(log('k1.md'), ['create ok']);
  }));

test('killed in the middle of a call, with others waiting', () =>
  withMemory({}, async (memory) => {
    const inTheMiddle = async (...calls: object[]) => {
      await memory.run(view(''));
      const child = theChild();
      await stop(child);
      const answers = Promise.allSettled(calls.map((call) => memory.run(call)));
      await sleep(200);
      process.kill(child, 'SIGKILL');
      return answers;
    };
    const value = (text: string) => ({ status: 'fulfilled', value: text });
    const both = await inTheMiddle(create('m.md'), view('m.md'));
    assert.deepEqual(both, [value(created('m.md')), value(shown('m.md', 'x'))]);
    const edit = { command: 'str_replace', path: '/memories/m.md', old_str: 'x', new_str: 'xx' };
    const [lost, next] = await inTheMiddle(edit, { ...edit, new_str: 'y' });
    await refused(lost?.status === 'rejected' ? Promise.reject(lost.reason) : lost, UNSURE);
    assert.equal(next?.status, 'fulfilled');
    assert.equal(await memory.run(view('m.md')), shown('m.md', 'y'));
    for (const call of [{ command: 'delete', path: '/memories/m.md' }, { command: 'nonesuch' }]) {
      const [answer] = await inTheMiddle(call);
      await refused(answer?.status === 'rejected' ? Promise.reject(answer.reason) : answer, UNSURE);
    }
  }));

test('a lost create is not told as existing, and a lost refusal stays one', () =>
  withMemory({ command: LOSSY }, async (memory) => {
    lose();
    assert.equal(await memory.run(create('lost.md')), created('lost.md'));
    assert.deepEqual(log('lost.md'), ['create ok', 'create ok']);
    await memory.run(view('lost.md'));
    lose();
    await refused(memory.run(create('lost.md', 'another')), 'Error: File /memories/lost.md already exists');
    assert.equal(await memory.run(view('lost.md')), shown('lost.md', 'x'));
  }));

test('a lost edit is not made twice', () =>
  withMemory({ command: LOSSY }, async (memory) => {
    await memory.run(create('e.md', 'a'));
    lose();
    await refused(memory.run({ command: 'str_replace', path: '/memories/e.md', old_str: 'a', new_str: 'aa' }), UNSURE);
    assert.equal(await memory.run(view('e.md')), shown('e.md', 'aa'));
  }));

test('a child that always dies, and one out of step', async () => {
  const program = `import sys; sys.stdin.readline(); print('{"id": null}', flush=True); sys.stdin.readline()`;
  for (const command of [['/usr/bin/env', 'python3', '-c', program], [...ECHO, '77']] as [string, ...string[]][])
    await withMemory({ command }, async (memory) => {
      for (const call of [view(''), create('a'), { command: 'delete', path: '/memories/a' }])
        await refused(memory.run(call), UNSURE);
    });
});

test('fifty promises at once, in order', () =>
  withMemory({}, async (memory) => {
    const names = Array.from({ length: 50 }, (_, number) => `promise-${number}.md`);
    const before = log().length;
    const answers = await Promise.all(names.flatMap((name) => [create(name, name), view(name)]).map((call) => memory.run(call)));
    assert.deepEqual(answers, names.flatMap((name) => [created(name), shown(name, name)]));
    const events = log().slice(before);
    assert.deepEqual(events, names.flatMap(() => ['create ok', 'view ok']));
  }));

test('a call that is aborted before its turn is not made', () =>
  withMemory({}, async (memory) => {
    const toolUse = { type: 'tool_use', id: 'toolu_1', name: 'memory', input: {} } as const;
    const abort = new AbortController();
    const context = { toolUse, toolUseBlock: toolUse, signal: abort.signal };
    const child = theChild();
    await stop(child);
    const calls = [memory.run(create('first.md'), context), memory.run(create('second.md'), context)];
    await sleep(0);
    abort.abort();
    process.kill(child, 'SIGCONT');
    assert.equal(await calls[0], created('first.md'));
    await assert.rejects(calls[1]!, { name: 'AbortError' });
    assert.deepEqual(log('second.md'), []);
    assert.equal(await memory.run(view('first.md')), shown('first.md', 'x'));
  }));

test('characters', () =>
  withMemory({}, async (memory) => {
    const texts = ['\u{1f375} \u{1f468}\u200d\u{1f469} tea', 'a\u2028b\u2029c\x85d\x0be\r\ng\r', '"\\u0041\\" \ud7ff\ue000\uffff', ''];
    for (const [number, text] of texts.entries()) {
      assert.equal(await memory.run(create(`c${number}.md`, text)), created(`c${number}.md`));
      assert.equal(await memory.run(view(`c${number}.md`)), shown(`c${number}.md`, text));
    }
    for (const text of ['\ud83d', 'a\udc00b', '\udc00\ud83d']) await refused(memory.run(create('half.md', text)), /^Error: .*not JSON/);
    assert.equal(await memory.run(create('half.md', 'whole')), created('half.md'));
  }));

test('large texts', () =>
  withMemory({}, async (memory) => {
    const tea = '\u{1f375}'.repeat(262144);
    assert.equal(await memory.run(create('large-tea.md', tea)), created('large-tea.md'));
    const cut = (await memory.run(view('large-tea.md'))) as string;
    assert.ok([...cut].length > 15900 && [...cut].length < 16200 && !cut.includes('\ufffd'));
    const full = 'y'.repeat(16000 - shown('full.md', '').length);
    assert.equal(await memory.run(create('full.md', full)), created('full.md'));
    assert.equal(await memory.run(view('full.md')), shown('full.md', full));
    await refused(memory.run(create('huge.md', 'z'.repeat(17 << 20))), /^Error: the line is longer than/);
    assert.equal(await memory.run(create('huge.md', 'small')), created('huge.md'));
  }));

test('what is sent is what the model said, and who it was', () =>
  withMemory({ command: ECHO, actor: 'planner', session: 's-17', reason: 'asked' }, async (memory) => {
    const input = { command: 'view', path: '/memories', new: { field: [1, 2.5, null, '\u2028'] } };
    const toolUse = { type: 'tool_use', id: 'toolu_1', name: 'memory', input } as const;
    const said = JSON.parse((await memory.run(memory.parse(input), { toolUse, toolUseBlock: toolUse })) as string);
    assert.deepEqual(said.input, input);
    assert.deepEqual(said.context, { actor: 'planner', session: 's-17', reason: 'asked', tool_use_id: 'toolu_1' });
    for (const odd of [{}, [], null, 'view', { command: 7 }])
      assert.deepEqual(JSON.parse((await memory.run(odd)) as string).input, odd);
    assert.deepEqual(JSON.parse(JSON.stringify(memory)), { type: 'memory_20250818', name: 'memory' });
  }));
