import { UserError, type ExitCode } from '../../../lib/error.ts';
import { formatCount } from '../../../lib/format-count.ts';
import {
  parseQuestion,
  proposedMeasures,
  proposeQuestions,
  questionText,
} from '../../../project/setup/first-questions.ts';
import type { SemanticModel } from '../../../semantic/model/model.ts';
import type { IngestReport } from '../../../ingest/report.ts';
import type { CommandContext, CommandResult } from '../../command.ts';
import type { FirstAnswerFlags } from '../../flags/first-answer-flags.ts';
import { renderError, usageError } from '../../terminal/failure.ts';
import { promptForFlag } from '../../terminal/prompt.ts';
import { escapeControls } from '../../terminal/text-width.ts';
import { askForEmbeddings } from './questions/ask-for-embeddings.ts';
import { readExistingConfig } from './setup-llm.ts';
import { stepsForSources } from './steps-for-sources.ts';

interface Wizard {
  readonly dir: string;
  readonly connection: string;
  readonly flags: FirstAnswerFlags;
  readonly context: CommandContext;
}

interface WizardRun extends Wizard {
  /** What was said about the connection when it was made. */
  readonly notes: readonly string[];
}

/** `back`: the person wants the question before. `failed`: a command printed why. */
type WizardStepEnd = 'next' | 'back' | 'failed';

const steps: readonly ((wizard: WizardRun) => Promise<WizardStepEnd>)[] = [
  embeddingsStep,
  ingestStep,
  measuresStep,
  questionStep,
  clientStep,
];

/**
 * Goes on from a project that is set up to the first answer: asks about embeddings, reads the
 * warehouse, decides about proposed measures, asks a question, adds an MCP client. Each step runs
 * the command that its flag names, so that a later run goes on where this one stopped.
 */
export async function goToFirstAnswer(
  connected: CommandResult,
  wizard: Wizard,
): Promise<CommandResult> {
  const { context } = wizard;
  if (connected.failure !== undefined || !isWanted(wizard)) return connected;
  const { text, notes = [], ...result } = connected;
  for (const line of [...(text === undefined ? [] : [text]), ...notes]) context.printNote(line);
  try {
    for (let index = 0; index < steps.length;) {
      const end = await steps[index]?.({ ...wizard, notes });
      if (end === 'failed') return { ...result, next: undefined, exitCode: 1 };
      index = Math.max(0, index + (end === 'back' ? -1 : 1));
    }
  } catch (error) {
    if (!(error instanceof UserError && error.code === 'interrupted')) throw error;
    const hint = 'ktx setup goes on where it stopped';
    const failure = new UserError('interrupted', 'The project is set up.', { hint, exitCode: 130 });
    return { ...result, failure };
  }
  if ((await readModel(wizard)).datasets.size === 0) return result;
  return {
    ...result,
    next: [
      ['ktx sl list', 'lists datasets and metrics'],
      ['ktx review', 'shows what waits for a decision'],
      ...(await stepsForSources(wizard.dir)),
      ['git add ktx.yaml', 'ktx does not commit the configuration'],
    ],
  };
}

/** In a script only by a flag. */
function isWanted({ flags, context }: Wizard): boolean {
  return context.screen.interactive || namesFirstAnswer(flags);
}

/** True if a flag asks for a step. */
function namesFirstAnswer(flags: FirstAnswerFlags): boolean {
  const { ingest, acceptMeasures, firstQuestion, mcpClient } = flags;
  const isNamed = [firstQuestion, mcpClient].some((flag) => flag !== undefined && flag !== 'none');
  return ingest === true || acceptMeasures === true || isNamed;
}

/** A command line in the project, as if the person had typed it. */
async function run(argv: readonly string[], { dir, context }: Wizard): Promise<ExitCode> {
  const { runCli } = await import('../../run.ts');
  context.progress.clear();
  const { host } = context;
  const env = { ...host.env, KTX_PROJECT_DIR: undefined };
  return runCli(argv, { ...host, env, cwd: dir });
}

/** The steps print what their commands print, which is no envelope. */
export function refuseJson(flags: FirstAnswerFlags, { screen }: CommandContext): void {
  if (screen.format !== 'json' || !namesFirstAnswer(flags)) return;
  throw usageError(
    '--json prints one envelope, and these flags run several commands.',
    'ktx setup --json, then ktx ingest --json, ktx sl query --json, ktx mcp install --json',
  );
}

interface Choice {
  readonly flag: string;
  readonly message: string;
  readonly options: readonly { readonly value: string; readonly label: string }[];
}

async function choose({ flag, message, options }: Choice, { context }: Wizard): Promise<string> {
  if (!context.screen.interactive) return 'no';
  const { signal } = context;
  return promptForFlag(flag, context, ({ select }) =>
    select({ message, options: [...options], signal }),
  );
}

const back = { value: 'back', label: 'back to the question before' };

/** Before the ingest, which embeds. Whoever wants no language model is not asked about another. */
async function embeddingsStep(wizard: Wizard): Promise<WizardStepEnd> {
  const { dir, context } = wizard;
  if (!context.screen.interactive) return 'next';
  for (;;) {
    const config = await readExistingConfig(dir);
    const backend = config?.llm.provider.backend ?? 'none';
    if (backend === 'none' || config?.ingest.embeddings !== undefined) return 'next';
    const flags = await askForEmbeddings(context);
    if (flags.length === 0 || (await run(['setup', ...flags, '--quiet'], wizard)) === 0)
      return 'next';
  }
}

async function ingestStep(wizard: WizardRun): Promise<WizardStepEnd> {
  const { connection, flags } = wizard;
  const options = [
    { value: 'yes', label: 'yes: find keys and joins, write and commit the semantic layer' },
    { value: 'no', label: 'later, with ktx ingest' },
  ];
  const message = 'Read the warehouse now?';
  const asks = flags.ingest === undefined && (await readModel(wizard)).datasets.size === 0;
  const isYes = asks
    ? (await choose({ flag: '--ingest', message, options }, wizard)) === 'yes'
    : flags.ingest === true;
  if (!isYes) return 'next';
  const { failure, code } = await readWarehouses(wizard);
  if (failure !== undefined) wizard.context.printNote(renderError(failure, wizard.context.screen));
  return code === 0 || code === 3 ? showJoins(wizard, connection) : 'failed';
}

async function readWarehouses({ context, notes }: WizardRun) {
  const { ingestFailure, runIngest } = await import('../learn/run-ingest.ts');
  const { describeIngest } = await import('../learn/ingest-report-text.ts');
  const project = await context.reopenProject();
  try {
    const options = { connections: [], dryRun: false, commit: true, llm: true };
    const report = await runIngest(project, options, context);
    const shown = withoutFileNotes(report, notes);
    context.printNote(describeIngest(shown, context.screen).join('\n'));
    return { failure: ingestFailure(report), code: report.exitCode };
  } finally {
    await project.close();
  }
}

/** Without what was said of files already. */
function withoutFileNotes(report: IngestReport, notes: readonly string[]): IngestReport {
  const isNew = (text: string) => !notes.some((note) => note.endsWith(`: ${escapeControls(text)}`));
  const connections = report.connections.map(({ unreadFiles, assumptions, ...connection }) => ({
    ...connection,
    unreadFiles: unreadFiles?.filter(({ reason }) => isNew(reason)),
    assumptions: assumptions?.filter(isNew),
  }));
  return { ...report, connections };
}

/** The picture of what was found. */
async function showJoins({ context }: Wizard, connection: string): Promise<WizardStepEnd> {
  const { readJoinGraph } = await import('../../../project/graph/read-join-graph.ts');
  const project = await context.reopenProject();
  try {
    const { datasets, joins } = await readJoinGraph(project, connection);
    const shown = joins.slice(0, mostJoins).map(({ from, to, on, state }) => {
      const columns = Object.keys(on).join(', ');
      return `  ${from}.${columns} → ${to}${state === 'in_doubt' ? '  (in doubt)' : ''}`;
    });
    const rest = joins.length - shown.length;
    const more = rest > 0 ? [`  and ${rest} more: ktx sl graph`] : [];
    const found = [formatCount(datasets.length, 'dataset'), formatCount(joins.length, 'join')];
    context.printNote([found.join(', '), ...shown, ...more].join('\n'));
    return 'next';
  } finally {
    await project.close();
  }
}

const mostJoins = 8;

async function readModel({ context, connection }: Wizard): Promise<SemanticModel> {
  const project = await context.reopenProject();
  try {
    return (await project.model(connection)).model;
  } finally {
    await project.close();
  }
}

async function readValues({ context, connection }: Wizard) {
  const { readKnownValues } = await import('../../../project/answer/values.ts');
  const project = await context.reopenProject();
  try {
    return await readKnownValues(project, connection);
  } finally {
    await project.close();
  }
}

async function measuresStep(wizard: Wizard): Promise<WizardStepEnd> {
  const { flags } = wizard;
  const measures = proposedMeasures(await readModel(wizard));
  if (measures.length === 0 || flags.acceptMeasures === false) return 'next';
  const listed = measures.slice(0, mostMeasures).join(', ');
  const rest = measures.length > mostMeasures ? `, and ${measures.length - mostMeasures} more` : '';
  const isOne = measures.length === 1;
  const message = `ktx proposes ${formatCount(measures.length, 'measure')}: ${listed}${rest}. ${isOne ? 'Is it' : 'Are they'} right?`;
  const options = [
    isOne
      ? { value: 'later', label: 'later, with ktx review; until then it is marked' }
      : { value: 'later', label: 'later, one by one, with ktx review; until then they are marked' },
    { value: 'yes', label: isOne ? 'yes' : 'yes, all of them' },
    back,
  ];
  const answer =
    flags.acceptMeasures === true
      ? 'yes'
      : await choose({ flag: '--accept-measures', message, options }, wizard);
  if (answer === 'back') return 'back';
  if (answer !== 'yes') return 'next';
  return (await run(['review', 'accept', ...measures, '--quiet'], wizard)) === 0
    ? 'next'
    : 'failed';
}

const mostMeasures = 5;

async function questionStep(wizard: Wizard): Promise<WizardStepEnd> {
  const { flags, connection } = wizard;
  const values = await readValues(wizard);
  const questions = proposeQuestions(await readModel(wizard), values).map(questionText);
  if (questions.length === 0 && flags.firstQuestion === undefined) return 'next';
  const options = [
    ...questions.map((text) => ({ value: text, label: text })),
    { value: 'none', label: 'none now' },
    back,
  ];
  const message = 'Ask a first question:';
  const answer =
    flags.firstQuestion ?? (await choose({ flag: '--first-question', message, options }, wizard));
  if (answer === 'back') return 'back';
  if (answer === 'none' || answer === 'no') return 'next';
  const { metric, dimension } = parseQuestion(answer);
  const by = dimension === undefined ? [] : ['-d', dimension];
  const query = ['sl', 'query', '-m', metric, ...by, '--limit', '10', '--connection', connection];
  wizard.context.printNote(`\nktx sl query -m ${metric} ${by.join(' ')}`.trimEnd());
  return (await run(query, wizard)) === 0 ? 'next' : 'failed';
}

async function clientStep(wizard: Wizard): Promise<WizardStepEnd> {
  const { flags, context } = wizard;
  const { foundClients } = await import('../../clients/install.ts');
  const found = foundClients(context);
  if (found.length === 0 && flags.mcpClient === undefined) return 'next';
  const options = [
    ...found.map(({ name, title }) => ({ value: name, label: title })),
    { value: 'none', label: 'none now; later with ktx mcp install' },
    back,
  ];
  const message = 'Give it to an agent on this machine?';
  const answer =
    flags.mcpClient ?? (await choose({ flag: '--mcp-client', message, options }, wizard));
  if (answer === 'back') return 'back';
  if (answer === 'none' || answer === 'no') return 'next';
  return (await run(['mcp', 'install', answer], wizard)) === 0 ? 'next' : 'failed';
}
