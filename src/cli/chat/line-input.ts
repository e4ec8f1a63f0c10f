import { createInterface } from 'node:readline';
import { openChannel } from '../../lib/channel.ts';
import type { PermissionDecision } from '../../chat/permissions.ts';
import type { PermissionRequest } from '../../llm/port/tool-call.ts';
import type { CommandContext } from '../command.ts';
import { escapeControls } from '../terminal/text-width.ts';

/** Lines that a person types, or that come through a pipe. One reader for messages and for questions, so that none steals from the other. */
export interface LineInput {
  /** The next line; undefined at the end of the input. */
  line(prompt: string): Promise<string | undefined>;
  /** Called for Ctrl-C, which does not end the process while this is open at a terminal. */
  onInterrupt(listener: () => void): void;
  close(): void;
}

export function openLineInput({ host, screen }: CommandContext): LineInput {
  const { stdin, stdout } = host;
  const terminal = screen.interactive;
  const reader = createInterface({
    input: stdin,
    terminal,
    historySize: 200,
    ...(terminal ? { output: stdout } : {}),
  });
  const lines = openChannel<string>();
  const next = lines[Symbol.asyncIterator]();
  reader.on('line', (line) => lines.push(line));
  let isOpen = true;
  reader.on('close', () => {
    isOpen = false;
    lines.close();
  });
  return {
    async line(prompt) {
      // What was typed ahead is still there after the end of the input.
      if (terminal && isOpen) {
        reader.setPrompt(prompt);
        reader.prompt();
      }
      const { value, done } = await next.next();
      return done === true ? undefined : value;
    },
    onInterrupt: (listener) => void reader.on('SIGINT', listener),
    close: () => reader.close(),
  };
}

/** Asks whether a tool may run; the end of the input is a no. */
export async function askPermission(
  request: PermissionRequest,
  input: LineInput,
  context: CommandContext,
): Promise<PermissionDecision> {
  const { tool, effect, input: given, sql, maxRows } = request;
  const { style } = context.screen;
  const about = sql ?? inWords(given);
  const shown = about
    .split('\n')
    .slice(0, 30)
    .map((line) => `  ${escapeControls(line)}`);
  const most = maxRows === undefined ? '' : `, at most ${maxRows} rows`;
  context.printNote([`${style('bold', tool)} (${effect}${most})`, ...shown].join('\n'));
  for (;;) {
    const said = (await input.line('Allow it? [o]nce, for this [s]ession, [n]o: '))
      ?.trim()
      .toLowerCase();
    const answers: Readonly<Record<string, PermissionDecision>> = {
      o: 'once',
      once: 'once',
      y: 'once',
      yes: 'once',
      s: 'session',
      session: 'session',
      n: 'no',
      no: 'no',
      '': 'no',
    };
    const decision = answers[said ?? ''];
    if (decision !== undefined) return decision;
  }
}

/** What was given, a key a line; what is empty says nothing. */
function inWords(given: unknown): string {
  if (!(given instanceof Object)) return JSON.stringify(given) ?? '';
  const told = Object.entries(given).map(([key, value]: [string, unknown]) => ({
    key,
    text: JSON.stringify(value) ?? '',
  }));
  return told
    .flatMap(({ key, text }) => (text === '[]' || text === '{}' ? [] : [`${key}: ${text}`]))
    .join('\n');
}
