import type { PermissionDecision } from '../../../chat/tools/permissions.ts';
import type { PermissionRequest } from '../../../llm/port/tool-call.ts';
import type { CommandContext } from '../../command.ts';
import { escapeControls, wrapText } from '../../terminal/text-width.ts';
import type { LineInput } from './line-input.ts';

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

interface PermissionAsker {
  readonly input: LineInput;
  readonly context: CommandContext;
  /** Ends the question. */
  readonly signal?: AbortSignal | undefined;
}

/** Asks whether a tool may run. The end of the input and the end of the turn mean no. */
export async function askPermission(
  { tool, effect, input: toolInput, sql, maxRows, isCurated = false }: PermissionRequest,
  { input, context, signal }: PermissionAsker,
): Promise<PermissionDecision> {
  const { width } = context.screen;
  const details = (sql ?? describeToolInput(toolInput))
    .split('\n')
    .slice(0, maxShownLines)
    .flatMap((line) => wrapText(escapeControls(line), width && width - 2))
    .map((line) => `  ${line}`);
  const kind = isCurated ? 'curated, read-only' : effect;
  const limit = maxRows === undefined ? '' : `, at most ${maxRows} rows`;
  context.printNote(
    [`${context.screen.style('bold', tool)} (${kind}${limit})`, ...details].join('\n'),
  );
  const question = isCurated
    ? 'Allow curated queries in this session? [y]es, [n]o: '
    : 'Allow it? [o]nce, for this [s]ession, [n]o: ';
  for (;;) {
    const answer = await input.readAnswer(question, signal);
    if (answer === undefined) return 'no';
    const decision = decisions.get(answer.trim().toLowerCase());
    if (decision !== undefined) return decision;
    if (!/^\/|\S\s+\S/.test(answer)) continue;
    // Several words are no answer but the next message, such as a paste that came at this moment.
    input.keep(answer);
    context.printNote('This is no answer; it is kept as your next message.');
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
