import { formatCount } from '../../../lib/format-count.ts';
import type { ShownHistory } from '../../../project/learn/history.ts';
import type { HistoryPick } from '../../../project/learn/pick-history.ts';
import type { Project } from '../../../project/open/open.ts';
import { type CommandContext, defineCommand } from '../../command.ts';
import { parsePositiveInteger } from '../../flags/parse-number.ts';
import { escapeControls } from '../../terminal/text-width.ts';

const mostShown = 30;

export const historyCommand = defineCommand({
  description:
    'Shows what people ran on a warehouse, as ktx would use it: statements without their literals, how often, by how many people, and ' +
    'which logins do not count. Keeps nothing. An ingest reads the history only if history.enabled is set for the connection.',
  examples: [
    ['ktx history warehouse', 'statements and logins'],
    ['ktx history --limit 200 --json', 'for a program'],
    ['ktx history warehouse --pick', 'a model proposes what to leave out; you decide'],
  ],
  hasRows: true,
  define: (command) =>
    command
      .argument('[connection]', 'the warehouse, if there are several')
      .option('--pick', 'ask the configured model which logins and statements to leave out')
      .option('--limit <n>', 'how many statements to show (default: 30)', parsePositiveInteger),
  async run({ args: [requested], options: { limit = mostShown, pick: isAsking } }, context) {
    const project = await context.project();
    const { showHistory } = await import('../../../project/learn/history.ts');
    const history = await showHistory(project, requested, context.signal);
    const { statements, connection, isOn, users } = history;
    const picked = isAsking === true ? await askForPick(project, history, context) : undefined;
    const shown = statements.slice(0, limit);
    const columns = ['id', 'runs', 'people', 'statement'].map((name) => ({ name }));
    const rows = shown.map(({ id, runs, users: people, template }) => [
      id,
      runs,
      people,
      template.slice(0, 300),
    ]);
    return {
      data: {
        connection,
        enabled: isOn,
        statements: shown.map(({ id, runs, users: people, template }) => ({
          id,
          runs,
          people,
          template,
        })),
        users,
        left_out: history.leftOut,
        since: history.since,
        ...(picked && { picked }),
      },
      table: { columns, rows },
      notes: [
        summary(history, shown.length),
        ...userLines(history),
        ...(picked === undefined ? [] : pickLines(picked, connection)),
      ],
      next: isOn
        ? [[`ktx ingest ${connection}`, 'learns from them']]
        : [
            [
              'ktx trust',
              `after you have set connections.${connection}.history.enabled: true in ktx.yaml`,
            ],
          ],
    };
  },
});

async function askForPick(
  project: Project,
  history: ShownHistory,
  { progress, signal }: CommandContext,
): Promise<HistoryPick> {
  progress.update('asking the model');
  const { pickFromHistory } = await import('../../../project/learn/pick-history.ts');
  return pickFromHistory(project, history, signal);
}

/** As `ktx.yaml` takes it: a person pastes what they agree with. */
function pickLines({ users, statements }: HistoryPick, connection: string): readonly string[] {
  if (users.length + statements.length === 0) return ['The model would leave nothing out.'];
  const lines = [
    'The model would leave out, for you to paste into ktx.yaml:',
    `  connections.${connection}.history:`,
    ...(users.length === 0 ? [] : ['    exclude_users:']),
    ...users.map(({ name, why }) => `      - ${JSON.stringify(name)}  # ${why}`),
    ...(statements.length === 0 ? [] : ['    exclude_statements:']),
    ...statements.map(({ id, why }) => `      - ${id}  # ${why}`),
  ];
  return lines.map((line) => escapeControls(line.replaceAll('\n', ' ')));
}

const reasons: Readonly<Record<string, string>> = {
  ktx: 'of ktx itself',
  tool: 'of tools',
  user: 'of logins under exclude_users',
  statement: 'under exclude_statements',
  rare: 'too rare',
};

function summary(
  { statements, leftOut, since, hidden, isOn, access }: ShownHistory,
  shown: number,
): string {
  const gone = Object.entries(leftOut).map(([why, count]) => `${count} ${reasons[why] ?? why}`);
  const parts = [
    `${shown} of ${formatCount(statements.length, 'statement')}`,
    ...(since === undefined ? [] : [`since ${since}`]),
    ...(gone.length === 0 ? [] : [`left out: ${gone.join(', ')}`]),
    ...(hidden === 0 ? [] : [`${hidden} that the engine cut off or hides`]),
  ];
  const state = isOn ? 'on: an ingest learns from it' : 'off: an ingest does not read it';
  const live = access === undefined ? 'from scan.query_logs only' : state;
  return `${parts.join('; ')} (${live})`;
}

function userLines({ users }: ShownHistory): readonly string[] {
  if (users.length === 0) return ['The log does not tell who ran a statement.'];
  const names = users.slice(0, mostShown).map(({ name, runs, leftOut }) => {
    const why = leftOut === undefined ? '' : ` (${leftOut === 'tool' ? 'a tool' : 'excluded'})`;
    return escapeControls(`  ${name}: ${runs} runs${why}`);
  });
  return ['Logins:', ...names];
}
