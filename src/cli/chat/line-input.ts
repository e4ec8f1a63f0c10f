import { createInterface } from 'node:readline';
import type { PermissionDecision } from '../../chat/tools/permissions.ts';
import { openChannel } from '../../lib/channel.ts';
import type { PermissionRequest } from '../../llm/port/tool-call.ts';
import type { CommandContext } from '../command.ts';
import { escapeControls } from '../terminal/text-width.ts';

/**
 * Lines from a person or a pipe. One reader for messages and for permission questions, so that
 * neither takes the other's lines.
 */
export interface LineInput {
  /** The next line; undefined at the end of the input. */
  readLine(prompt: string): Promise<string | undefined>;
  /**
   * Calls the listener on Ctrl-C, which does not end the process while this is open in a terminal.
   */
  onInterrupt(listener: () => void): void;
  close(): void;
}

export function openLineInput({ host, screen }: CommandContext): LineInput {
  const { stdin, stdout } = host;
  const isTerminal = screen.interactive;
  const reader = createInterface({
    input: stdin,
    terminal: isTerminal,
    historySize: 200,
    ...(isTerminal ? { output: stdout } : {}),
  });
  const lines = openChannel<string>();
  const iterator = lines[Symbol.asyncIterator]();
  reader.on('line', (line) => lines.push(line));
  let isOpen = true;
  reader.on('close', () => {
    isOpen = false;
    lines.close();
  });
  return {
    async readLine(prompt) {
      // After the end of the input, lines typed before it are still in the channel.
      if (isTerminal && isOpen) {
        reader.setPrompt(prompt);
        reader.prompt();
      }
      const { value, done } = await iterator.next();
      return done === true ? undefined : value;
    },
    onInterrupt: (listener) => void reader.on('SIGINT', listener),
    close: () => reader.close(),
  };
}

const maxShownLines = 30;

const decisions: ReadonlyMap<string, PermissionDecision> = new Map([
  ['o', 'once'],
  ['once', 'once'],
  ['y', 'once'],
  ['yes', 'once'],
  ['s', 'session'],
  ['session', 'session'],
  ['n', 'no'],
  ['no', 'no'],
  ['', 'no'],
]);

/** Asks whether a tool may run. The end of the input means no. */
export async function askPermission(
  { tool, effect, input: toolInput, sql, maxRows }: PermissionRequest,
  input: LineInput,
  context: CommandContext,
): Promise<PermissionDecision> {
  const details = (sql ?? describeToolInput(toolInput))
    .split('\n')
    .slice(0, maxShownLines)
    .map((line) => `  ${escapeControls(line)}`);
  const limit = maxRows === undefined ? '' : `, at most ${maxRows} rows`;
  context.printNote(
    [`${context.screen.style('bold', tool)} (${effect}${limit})`, ...details].join('\n'),
  );
  for (;;) {
    const answer = await input.readLine('Allow it? [o]nce, for this [s]ession, [n]o: ');
    const decision = decisions.get(answer?.trim().toLowerCase() ?? '');
    if (decision !== undefined) return decision;
  }
}

/** One line per key; leaves out empty lists and maps. */
function describeToolInput(toolInput: unknown): string {
  if (!(toolInput instanceof Object)) return JSON.stringify(toolInput) ?? '';
  return Object.entries(toolInput)
    .map(([key, value]: [string, unknown]) => ({ key, text: JSON.stringify(value) ?? '' }))
    .filter(({ text }) => text !== '[]' && text !== '{}')
    .map(({ key, text }) => `${key}: ${text}`)
    .join('\n');
}
