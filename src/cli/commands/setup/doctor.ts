import { statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { formatCount } from '../../../lib/format-count.ts';
import { UserError } from '../../../lib/error.ts';
import type { ProgramReport } from '../../../llm/port/backend.ts';
import type { Project } from '../../../project/open/open.ts';
import type { ConnectionStatus, SourceStatus } from '../../../project/review/status.ts';
import type { EmbeddingsStatus } from '../../../project/setup/embeddings-status.ts';
import type { LlmStatus } from '../../../project/setup/llm-status.ts';
import { defineCommand, type CommandContext } from '../../command.ts';
import { toUserError } from '../../terminal/failure.ts';
import { escapeControls } from '../../terminal/text-width.ts';
import { describeProgram, modelWords } from '../../terminal/llm-text.ts';

interface DoctorFinding {
  readonly check: string;
  readonly state: 'ok' | 'warning' | 'broken';
  readonly found: string;
  readonly fix?: string | undefined;
}

const minFreeMegabytes = 100;

export const doctorCommand = defineCommand({
  description:
    'Checks Node, git, the SQL parser, the disk, the lock, the configuration and every login. Suggests a fix for each problem. Fails if ' +
    'something is broken.',
  examples: [['ktx doctor', 'runs all checks']],
  define: (command) => command,
  async run(_input, context) {
    const findings = [...(await checkEnvironment()), ...(await checkProject(context))];
    const broken = findings.filter(({ state }) => state === 'broken');
    const colors = { ok: 'green', warning: 'yellow', broken: 'red' } as const;
    const lines = findings.flatMap(({ check, state, found, fix }) => [
      `${context.screen.style(colors[state], state.padEnd(7))}  ${check}: ${found.replaceAll('\n', '\n         ')}`,
      ...(fix === undefined ? [] : [`         fix: ${fix}`]),
    ]);
    const message = `Broken: ${broken.map(({ check }) => check).join(', ')}.`;
    const failure =
      broken.length === 0
        ? undefined
        : new UserError('doctor_found', message, { hint: broken[0]?.fix });
    return { data: { findings }, text: lines.join('\n'), hasCommands: true, failure };
  },
});

async function checkEnvironment(): Promise<readonly DoctorFinding[]> {
  return [
    makeFinding('node', process.versions.node),
    await runCheck('git', async () => {
      const { gitOutput } = await import('../../../store/git.ts');
      return (await gitOutput(process.cwd(), ['--version'])).replace('git version ', '');
    }),
    await runCheck('sql parser', async () => {
      const { loadAnalyzer } = await import('../../../sql/analyzer.ts');
      await loadAnalyzer();
      return 'loads';
    }),
  ];
}

async function checkProject(context: CommandContext): Promise<readonly DoctorFinding[]> {
  const openProject = () => context.project({ mayAsk: false });
  const configuration = await runCheck('configuration', async () => (await openProject()).dir);
  if (configuration.state !== 'ok') {
    // Without --project-dir, having no project is only a warning.
    const isOptional =
      configuration.code === 'project_not_found' && context.projectDir === undefined;
    return [{ ...configuration, state: isOptional ? 'warning' : 'broken' }];
  }
  const project = await openProject();
  const disk = await checkDisk(project);
  const state = await checkState(project);
  if (state.state === 'broken') return [configuration, disk, state];
  const { withProjectLock } = await import('../../../store/lock.ts');
  // Taking the lock also writes into the folder.
  const lock = await runCheck('lock', () =>
    withProjectLock(project.dir, async () => 'free', { waitMs: 0 }),
  );
  context.progress.update('connecting to the warehouses');
  const { readProjectStatus } = await import('../../../project/review/status.ts');
  const { git, uncommitted, connections, sources, llm, embeddings, unreadableFiles } =
    await readProjectStatus(project, 'fresh', context.signal);
  const repository =
    git === undefined
      ? makeFinding(
          'repository',
          uncommitted === undefined ? 'none; ktx ingest makes one' : 'found',
        )
      : makeFinding('repository', git, {
          state: 'broken',
          fix: 'correct what git reports, then run ktx doctor again',
        });
  return [
    configuration,
    disk,
    state,
    lock,
    repository,
    ...connections.flatMap(connectionFindings),
    ...sources.flatMap(sourceFindings),
    ...unreadableFiles.map(({ path, reason, fix }) =>
      makeFinding(path, `not read: ${reason}`, { state: 'warning', fix }),
    ),
    ...llmFindings(llm),
    ...embeddingsFindings(embeddings),
  ];
}

/** Nothing that needs the local folder can be checked unless it is used. */
function checkState({ dir }: Project): Promise<DoctorFinding> {
  return runCheck('local state', async () => {
    const { inspectState } = await import('../../../store/ownership/state-guard.ts');
    const { problem } = inspectState(join(dir, '.ktx'));
    if (problem !== undefined) throw problem;
    return 'only you can read it';
  });
}

function checkDisk({ dir }: Project): Promise<DoctorFinding> {
  return runCheck('disk', async () => {
    const { bavail, bsize } = await statfs(dir);
    const megabytes = Math.floor((bavail * bsize) / 1_000_000);
    if (megabytes < minFreeMegabytes)
      throw new UserError('disk_full', `${megabytes} MB free`, {
        hint: 'free some space; .ktx/cache can be deleted',
      });
    return `${megabytes} MB free`;
  });
}

const notApproved = 'not approved on this machine, so ktx does not connect';

function connectionFindings({
  connection,
  approved,
  tables = 0,
  error,
  privileges = [],
  unreadFiles = [],
  invalid,
}: ConnectionStatus): readonly DoctorFinding[] {
  const name = `connection ${connection}`;
  if (!approved) return [makeFinding(name, notApproved, { state: 'warning', fix: 'ktx trust' })];
  if (error !== undefined)
    return [makeFinding(name, error.message, { state: 'broken', fix: error.hint })];
  const login =
    privileges.length === 0
      ? makeFinding(`login of ${connection}`, 'read-only')
      : makeFinding(`login of ${connection}`, privileges.join('; '), {
          state: 'warning',
          fix: 'give ktx a login that may only SELECT',
        });
  const problems = makeFinding(
    `datasets of ${connection}`,
    formatCount(invalid.length, 'problem'),
    {
      state: 'broken',
      fix: 'ktx sl validate',
    },
  );
  return [
    makeFinding(name, formatCount(tables, 'table')),
    login,
    ...unreadFiles.map(({ reason }) =>
      makeFinding(`files of ${connection}`, escapeControls(reason), {
        state: 'broken',
        fix: `repair or remove the file, or say how to read it: connections.${connection}.files`,
      }),
    ),
    ...(invalid.length === 0 ? [] : [problems]),
  ];
}

/** Of a source behind a login. */
function sourceFindings(source: SourceStatus): readonly DoctorFinding[] {
  const { connection, approved, reachable, error, login = '', misses = [] } = source;
  const name = `source ${connection}`;
  if (!approved) return [makeFinding(name, notApproved, { state: 'warning', fix: 'ktx trust' })];
  if (error !== undefined)
    return [makeFinding(name, error.message, { state: 'broken', fix: error.hint })];
  if (reachable !== true) return [];
  const [first] = misses;
  return [
    makeFinding(name, escapeControls(login)),
    ...(first === undefined
      ? []
      : [makeFinding(name, misses.map(escapeControls).join('\n'), { state: 'warning' })]),
  ];
}

function llmFindings({
  backend,
  state,
  account,
  ignored,
  notes,
  program,
  checks,
  error,
}: LlmStatus): readonly DoctorFinding[] {
  if (state === 'none') return [makeFinding('llm', 'none; everything except reading prose works')];
  if (state === 'unapproved')
    return [makeFinding('llm', notApproved, { state: 'warning', fix: 'ktx trust' })];
  const payer = account === undefined ? '' : ` (account: ${account})`;
  const answers = checks.map(({ model, state: found, roles, error: failure }) =>
    failure === undefined
      ? makeFinding(`model ${model}`, `${modelWords[found]} (${roles.join(', ')})`)
      : makeFinding(`model ${model}`, `${failure.message}${payer}`, {
          state: 'broken',
          fix: failure.hint,
        }),
  );
  const isOfModel = checks.some((check) => check.error !== undefined);
  const answer =
    error === undefined || isOfModel
      ? makeFinding('llm', [`${backend} answers`, account].filter(Boolean).join(', '))
      : makeFinding('llm', `${error.message}${payer}`, { state: 'broken', fix: error.hint });
  const ignoredSettings = makeFinding('llm settings', ignored.join('; '), {
    state: 'warning',
    fix: 'remove these settings from llm.promptCaching',
  });
  const takingPart = notes.map((note) =>
    makeFinding('managed settings', note, {
      state: 'warning',
      fix: 'if you do not want that, remove llm.provider.allow_managed_settings',
    }),
  );
  const running = program === undefined ? [] : [programFinding(program)];
  return [
    answer,
    ...answers,
    ...running,
    ...(ignored.length === 0 ? [] : [ignoredSettings]),
    ...takingPart,
  ];
}

/** A program that is too old still leaves the one that comes with ktx. */
function programFinding(program: ProgramReport): DoctorFinding {
  const { advice } = program;
  const problem = advice === undefined ? undefined : ({ state: 'warning', fix: advice } as const);
  return makeFinding('claude code', describeProgram(program), problem);
}

function embeddingsFindings(status: EmbeddingsStatus): readonly DoctorFinding[] {
  const { state, provider, model, dimensions, warning, error } = status;
  if (state === 'none')
    return warning === undefined ? [] : [makeFinding('embeddings', warning, { state: 'warning' })];
  if (state === 'unapproved')
    return [makeFinding('embeddings', notApproved, { state: 'warning', fix: 'ktx trust' })];
  return error === undefined
    ? [makeFinding('embeddings', `${provider} answers, ${model} with ${dimensions} dimensions`)]
    : [makeFinding('embeddings', error.message, { state: 'broken', fix: error.hint })];
}

/** A finding; ok unless a problem is given. */
function makeFinding(
  check: string,
  found: string,
  problem?: Pick<DoctorFinding, 'state' | 'fix'>,
): DoctorFinding {
  return { check, state: 'ok', found, ...problem };
}

/** Runs a check. If it throws, the error is the finding. */
async function runCheck(
  name: string,
  check: () => Promise<string>,
): Promise<DoctorFinding & { readonly code?: string }> {
  try {
    return makeFinding(name, await check());
  } catch (error) {
    const { code, message, hint } = toUserError(error);
    return { ...makeFinding(name, message, { state: 'broken', fix: hint }), code };
  }
}
