import { statfs } from 'node:fs/promises';
import { formatCount } from '../../../lib/format-count.ts';
import { UserError } from '../../../lib/error.ts';
import type { LlmStatus } from '../../../project/setup/llm-setup.ts';
import type { ConnectionStatus } from '../../../project/review/status.ts';
import { defineCommand, type CommandContext } from '../../command.ts';
import { failureOf } from '../../terminal/failure.ts';

interface Finding {
  readonly check: string;
  readonly state: 'ok' | 'warning' | 'broken';
  readonly found: string;
  readonly fix?: string | undefined;
}

export const doctor = defineCommand({
  description:
    'Checks node, git, the parsers, the disk, the lock, the configuration, and every login. Fails where something is broken.',
  examples: [['ktx doctor', 'each finding with its fix']],
  define: (command) => command,
  async run(_input, context) {
    const findings = [...(await environment()), ...(await projectFindings(context))];
    const broken = findings.filter(({ state }) => state === 'broken');
    const marks = { ok: 'green', warning: 'yellow', broken: 'red' } as const;
    const lines = findings.flatMap(({ check, state, found, fix }) => [
      `${context.screen.style(marks[state], state.padEnd(7))}  ${check}: ${found}`,
      ...(fix === undefined ? [] : [`         fix: ${fix}`]),
    ]);
    const message = `Broken: ${broken.map(({ check }) => check).join(', ')}.`;
    const failure =
      broken.length === 0
        ? undefined
        : new UserError('doctor_found', message, { hint: broken[0]?.fix });
    return { data: { findings }, text: lines.join('\n'), failure };
  },
});

async function environment(): Promise<readonly Finding[]> {
  return [
    finding('node', process.versions.node),
    await tried('git', async () => {
      const { gitLine } = await import('../../../store/git.ts');
      return (await gitLine(process.cwd(), ['--version'])).replace('git version ', '');
    }),
    await tried('sql parser', async () => {
      const { loadAnalyzer } = await import('../../../sql/analyzer.ts');
      await loadAnalyzer();
      return 'loads';
    }),
  ];
}

async function projectFindings(context: CommandContext): Promise<readonly Finding[]> {
  const configuration = await tried('configuration', async () => (await context.project()).dir);
  // A project is no must for a doctor, unless one was named.
  const isOptional = configuration.code === 'project_not_found' && context.projectDir === undefined;
  if (configuration.state !== 'ok')
    return [{ ...configuration, state: isOptional ? 'warning' : 'broken' }];
  const project = await context.project();
  const { withProjectLock } = await import('../../../store/lock.ts');
  const { projectStatus } = await import('../../../project/review/status.ts');
  const disk = await tried('disk', async () => {
    const { bavail, bsize } = await statfs(project.dir);
    const megabytes = Math.floor((bavail * bsize) / 1_000_000);
    if (megabytes < 100)
      throw new UserError('disk_full', `${megabytes} MB free`, {
        hint: 'make room: .ktx/cache may be deleted',
      });
    return `${megabytes} MB free`;
  });
  // It writes into the folder, too.
  const lock = await tried('lock', () =>
    withProjectLock(project.dir, async () => 'free', { waitMs: 0 }),
  );
  context.progress.update('asking the warehouses');
  const { git, uncommitted, connections, llm } = await projectStatus(
    project,
    false,
    context.signal,
  );
  const tracked = uncommitted === undefined ? 'none yet: ktx ingest makes one' : 'found';
  const repository = finding(
    'repository',
    git ?? tracked,
    git === undefined ? undefined : { state: 'broken', fix: 'do what git says' },
  );
  return [
    configuration,
    disk,
    lock,
    repository,
    ...connections.flatMap(connectionFindings),
    ...llmFindings(llm),
  ];
}

function llmFindings({ backend, state, account, ignored, error }: LlmStatus): readonly Finding[] {
  if (state === 'none') return [finding('llm', 'none; everything but reading prose works')];
  const payer = account === undefined ? '' : ` (it would be paid by ${account})`;
  const broken =
    error && finding('llm', `${error.message}${payer}`, { state: 'broken', fix: error.hint });
  const honoured = { state: 'warning', fix: 'take the settings out of llm.promptCaching' } as const;
  return [
    broken ?? finding('llm', [`${backend} answers`, account].filter(Boolean).join(', ')),
    ...(ignored.length === 0 ? [] : [finding('llm settings', ignored.join('; '), honoured)]),
  ];
}

function connectionFindings({
  connection,
  tables = 0,
  error,
  privileges = [],
  invalid,
}: ConnectionStatus): readonly Finding[] {
  const name = `connection ${connection}`;
  if (error !== undefined)
    return [finding(name, error.message, { state: 'broken', fix: error.hint })];
  const couldWrite = {
    state: 'warning',
    fix: 'give ktx a login with SELECT and nothing else',
  } as const;
  const problems = finding(`datasets of ${connection}`, formatCount(invalid.length, 'problem'), {
    state: 'broken',
    fix: 'ktx sl validate',
  });
  return [
    finding(name, formatCount(tables, 'table')),
    finding(
      `login of ${connection}`,
      privileges.join('; ') || 'may only read',
      privileges.length === 0 ? undefined : couldWrite,
    ),
    ...(invalid.length === 0 ? [] : [problems]),
  ];
}

function finding(check: string, found: string, trouble?: Pick<Finding, 'state' | 'fix'>): Finding {
  return { check, state: 'ok', found, ...trouble };
}

/** A failure of the run is the finding. */
async function tried(
  name: string,
  run: () => Promise<string>,
): Promise<Finding & { readonly code?: string }> {
  try {
    return finding(name, await run());
  } catch (error) {
    const { code, message, hint } = failureOf(error);
    return { ...finding(name, message, { state: 'broken', fix: hint }), code };
  }
}
