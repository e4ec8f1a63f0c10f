import { statfs } from 'node:fs/promises';
import { messageOf, UserError } from '../lib/error.ts';
import type { Connection } from '../project/project.ts';
import { defineCommand, type CommandContext } from './command.ts';
import { counted } from './output.ts';

interface Finding {
  readonly check: string;
  readonly state: 'ok' | 'warning' | 'broken';
  readonly found: string;
  readonly fix?: string | undefined;
}

export const doctor = defineCommand({
  description: 'Checks node, git, the parsers, the disk, the lock, the configuration, and every login. Fails where something is broken.',
  examples: [['ktx doctor', 'each finding with its fix']],
  define: (command) => command,
  async run(_input, context) {
    const findings = [...(await environment()), ...(await projectFindings(context))];
    const broken = findings.filter(({ state }) => state === 'broken');
    const marks = { ok: 'green', warning: 'yellow', broken: 'red' } as const;
    const lines = findings.flatMap(({ check: name, state, found, fix }) => [
      `${context.screen.style(marks[state], state.padEnd(7))}  ${name}: ${found}`,
      ...(fix === undefined ? [] : [`         fix: ${fix}`]),
    ]);
    const message = `Broken: ${broken.map(({ check: name }) => name).join(', ')}.`;
    const failure = broken.length === 0 ? undefined : new UserError('doctor_found', message, { hint: broken[0]?.fix });
    return { data: { findings }, text: lines.join('\n'), failure };
  },
});

async function environment(): Promise<readonly Finding[]> {
  return [
    await check('node', async () => process.versions.node),
    await check('git', async () => {
      const { git } = await import('../store/git.ts');
      return (await git(process.cwd(), ['--version'])).stdout.toString('utf8').trim().replace('git version ', '');
    }),
    await check('sql parser', async () => {
      const { loadAnalyzer } = await import('../sql/analyzer.ts');
      await loadAnalyzer();
      return 'loads';
    }),
  ];
}

async function projectFindings(context: CommandContext): Promise<readonly Finding[]> {
  // A project is no must for a doctor, unless one was named.
  const tolerated = context.projectDir === undefined ? 'project_not_found' : undefined;
  const configuration = await check('configuration', async () => (await context.project()).dir, tolerated);
  if (configuration.state !== 'ok') return [configuration];
  const project = await context.project();
  const { dir } = project;
  const { withProjectLock } = await import('../store/lock.ts');
  const findings = [
    configuration,
    await check('disk', async () => {
      const { bavail, bsize } = await statfs(dir);
      const megabytes = Math.floor((bavail * bsize) / 1_000_000);
      if (megabytes < 100) throw new UserError('disk_full', `${megabytes} MB free`, { hint: 'make room: .ktx/cache may be deleted' });
      return `${megabytes} MB free`;
    }),
    // It writes into the folder, too.
    await check('lock', () => withProjectLock(dir, async () => 'free', { waitMs: 0 })),
  ];
  for (const name of Object.keys(project.config.connections)) {
    findings.push(...(await connectionFindings(dir, project.connection(name), context)));
  }
  return findings;
}

async function connectionFindings(dir: string, connection: Connection, context: CommandContext): Promise<readonly Finding[]> {
  const { probeConnection } = await import('../project/setup.ts');
  const { name } = connection;
  context.progress.update(`connecting to ${name}`);
  const login: Finding[] = [];
  const connected = await check(`connection ${name}`, async () => {
    const { tables, privileges } = await probeConnection({ dir, ...connection }, context.signal);
    const fix = 'give ktx a login with SELECT and nothing else';
    const rights = { found: privileges.findings.join('; '), state: 'warning', fix } as const;
    login.push({ check: `login of ${name}`, ...(privileges.readOnly ? { found: 'may only read', state: 'ok' } : rights) });
    return counted(tables, 'table');
  });
  return [connected, ...login];
}

/** A failure of the run is the finding; one with the code `tolerated` is only a warning. */
async function check(name: string, run: () => Promise<string>, tolerated?: string): Promise<Finding> {
  try {
    return { check: name, state: 'ok', found: await run() };
  } catch (error) {
    const { hint, code } = error instanceof UserError ? error : { hint: 'reinstall ktx: npm install -g ktx', code: '' };
    return { check: name, state: code === tolerated ? 'warning' : 'broken', found: messageOf(error), fix: hint };
  }
}
