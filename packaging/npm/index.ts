/**
 * The SDK's memory tool over agekeep: what an agent remembers, encrypted, signed and versioned.
 *
 * Give a memory to the SDK's tool runner:
 *
 *     const memory = await agekeepMemory({ actor: 'planner' });
 *     client.beta.messages.toolRunner({ ..., tools: [memory] });
 *
 * It needs `npm install agekeep @anthropic-ai/sdk` and a store (`npx agekeep init`).
 */
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import type { Socket } from 'node:net';
import { betaMemoryTool } from '@anthropic-ai/sdk/helpers/beta/memory';
import type { BetaToolRunContext } from '@anthropic-ai/sdk/lib/tools/BetaRunnableTool';
import { ToolError } from '@anthropic-ai/sdk/lib/tools/ToolError';
import { bundled } from './bundled.ts';

const UNAVAILABLE = 'Error: the memory cannot be opened. Go on without it, and tell a person.';
const UNSURE =
  'Error: the memory stopped before it answered, so this may or may not have been done. ' +
  'View what it is about before you try again.';
/** The SHA-256 of no text: with it as its base, `create` is refused unless it is done already. */
const NO_TEXT = '0'.repeat(64);

export interface AgekeepOptions {
  /** The store's folder, where it is not the user's own. */
  store?: string;
  /** Who acts, in which session, and why: what every call is recorded with. */
  actor?: string;
  session?: string;
  reason?: string;
  /** How to start another agekeep than the package's, with more arguments if it needs them. */
  command?: readonly [string, ...string[]];
}

/** agekeep cannot be started, or cannot open the store: its error and its hint. */
export class AgekeepError extends Error {}

/** The child process ended before it answered. */
class Lost extends Error {}

type Answer = { id: number | null; content: string; is_error: boolean };
type Context = Record<string, string | undefined>;

/** Starts agekeep, and answers the tool. Calls are carried out one by one, as they come. */
export async function agekeepMemory({
  store,
  command = [bundled() ?? 'agekeep', 'tool'], // on the path where this is used from a checkout
  // These go with each call and not into the arguments, which every user of the machine sees.
  ...said
}: AgekeepOptions = {}) {
  const [program, ...args] = store === undefined ? command : [...command, '--store', store];
  let child: Child | undefined;
  let asked = 0;
  let closed = false;
  let turn: Promise<unknown> = Promise.resolve();

  async function running(): Promise<Child> {
    if (closed) throw new AgekeepError('this memory was closed');
    if (child?.isAlive) return child;
    const started = (child = new Child(program, args));
    // `null` is no call, and so is not recorded; but whoever answers it has opened the store.
    await started.exchange('null').catch(() => {
      throw new AgekeepError(started.said.trim() || `${program} ended`);
    });
    return started;
  }

  async function ask(input: unknown, context: Context): Promise<Answer> {
    const id = ++asked;
    const current = await running();
    const answer = await current.exchange(JSON.stringify({ id, input, context }));
    // A line too long to be read is answered without an id.
    if (answer.id === id || answer.id === null) return answer;
    await current.end('SIGKILL');
    throw new Lost();
  }

  /**
   * Asks, and where the answer was lost, once more if that cannot do it twice.
   *
   * Looking twice is harmless. A `create` is first asked whether its text is there already, so that
   * what it did itself does not come back as "already exists". What an edit, a rename or a deletion
   * found before it is not known here, so those are for the model to look into.
   */
  async function askSurely(input: unknown, context: Context): Promise<Answer> {
    try {
      return await ask(input, context);
    } catch (error) {
      const { command } = Object(input) as { command?: unknown };
      if (!(error instanceof Lost) || (command !== 'view' && command !== 'create')) throw error;
      if (command === 'create') {
        const done = await ask(input, { ...context, base_sha256: NO_TEXT });
        if (!done.is_error) return done;
      }
      return ask(input, context);
    }
  }

  async function carryOut(input: unknown, call?: BetaToolRunContext): Promise<string> {
    call?.signal?.throwIfAborted();
    const answer = await askSurely(input, { ...said, tool_use_id: call?.toolUse.id }).catch((error) => {
      if (error instanceof Lost) throw new ToolError(UNSURE);
      if (!(error instanceof AgekeepError)) throw error;
      // The model gets no path of this machine to read; whoever looks after it does.
      console.error(`agekeep: ${error.message}`);
      throw new ToolError(UNAVAILABLE);
    });
    if (answer.is_error) throw new ToolError(answer.content);
    return answer.content;
  }

  /** The SDK starts parallel calls all at once; one at a time, a child that dies takes one with it. */
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = turn.then(work);
    turn = done.catch(() => {});
    return done;
  }

  const run = (input: unknown, call?: BetaToolRunContext) => inTurn(() => carryOut(input, call));
  const one = (input: unknown) => run(input);
  const handlers = { view: one, create: one, str_replace: one, insert: one, delete: one, rename: one };
  await running();
  return {
    ...betaMemoryTool(handlers),
    // In place of the helper's, which knows no id of a call and refuses unknown commands itself.
    run,
    /** Ends the child process, after the calls that came before. It may be called more than once. */
    close: () =>
      inTurn(async () => {
        closed = true;
        await child?.end();
      }),
  };
}

/** One `agekeep tool` process, which answers each line with one line. */
class Child {
  said = '';
  isAlive = true;
  #process: ChildProcessWithoutNullStreams;
  #ended: Promise<void>;
  #waiting: { resolve(answer: Answer): void; reject(error: Error): void } | undefined;

  constructor(program: string, args: string[]) {
    this.#process = spawn(program, args);
    const { stdin, stdout, stderr } = this.#process;
    stdin.on('error', () => {}); // that nobody reads is told by the end of the process
    stderr.setEncoding('utf8').on('data', (text: string) => {
      this.said = (this.said + text).slice(-4000);
      process.stderr.write(text);
    });
    // Not with node:readline, for which U+2028 ends a line, and that may stand in a text.
    let rest = '';
    stdout.setEncoding('utf8').on('data', (text: string) => {
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) this.#settle(line);
    });
    this.#process.on('error', (error) => (this.said += `cannot run ${program}: ${error.message}. Is it installed?`));
    this.#process.on('exit', () => (this.isAlive = false));
    this.#ended = new Promise((resolve) => {
      this.#process.on('close', () => {
        this.isAlive = false;
        this.#waiting?.reject(new Lost());
        resolve();
      });
    });
  }

  exchange(line: string): Promise<Answer> {
    const answer = new Promise<Answer>((resolve, reject) => (this.#waiting = { resolve, reject }));
    if (!this.isAlive) this.#waiting?.reject(new Lost());
    this.#keepProgramAlive(true);
    this.#process.stdin.write(line + '\n');
    return answer.finally(() => this.#keepProgramAlive(false));
  }

  end(signal?: 'SIGKILL'): Promise<void> {
    this.#keepProgramAlive(true);
    this.#process.stdin.end();
    if (signal) this.#process.kill(signal);
    return this.#ended;
  }

  #settle(line: string) {
    try {
      const answer = JSON.parse(line);
      if (answer === null) throw new Error('an answer is a JSON object');
      this.#waiting?.resolve(answer);
    } catch {
      this.#process.kill('SIGKILL');
    }
  }

  /** A program that forgets to close its memory still ends, and with it the child. */
  #keepProgramAlive(alive: boolean) {
    const { stdin, stdout, stderr } = this.#process;
    for (const handle of [this.#process, stdin, stdout, stderr] as Socket[]) {
      if (alive) handle.ref();
      else handle.unref();
    }
  }
}
