import { constants } from 'node:fs';
import { access, statfs } from 'node:fs/promises';
import { messageOf, UserError } from '../lib/error.ts';
import type { Project } from '../project/project.ts';
import { defineCommand, type CommandContext } from './command.ts';

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
    const findings: Finding[] = [
      { check: 'node', state: 'ok', found: process.versions.node },
      await check('git', gitVersion),
      await check('sql parser', async () => {
        const { loadAnalyzer } = await import('../sql/analyzer.ts');
        await loadAnalyzer();
        return 'loads';
      }),
    ];
    const project = await openProject(context, findings);
    if (project !== undefined) findings.push(...(await projectFindings(project, context)));
    const broken = findings.filter(({ state }) => state === 'broken');
    const marks = { ok: 'green', warning: 'yellow', broken: 'red' } as const;
    const lines = findings.flatMap(({ check: name, state, found, fix }) => [
      `${context.screen.style(marks[state], state.padEnd(7))}  ${name}: ${found}`,
      ...(fix === undefined ? [] : [`         fix: ${fix}`]),
    ]);
    const failure = new UserError('doctor_found', `Broken: ${broken.map(({ check: name }) => name).join(', ')}.`, {
      hint: broken[0]?.fix,
    });
    return { data: { findings }, text: lines.join('\n'), ...(broken.length > 0 && { failure }) };
  },
});

/** A project is no must for a doctor; a broken one is a finding. */
async function openProject(context: CommandContext, findings: Finding[]): Promise<Project | undefined> {
  try {
    const project = await context.project();
    findings.push({
      check: 'configuration',
      state: 'ok',
      found: `${Object.keys(project.config.connections).length} connections in ${project.dir}`,
    });
    return project;
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    const state = error.code === 'project_not_found' && context.projectDir === undefined ? 'warning' : 'broken';
    findings.push({ check: 'configuration', state, found: error.message, fix: error.hint });
    return undefined;
  }
}

async function projectFindings(project: Project, { signal, progress }: CommandContext): Promise<readonly Finding[]> {
  const { dir } = project;
  const { withProjectLock } = await import('../store/lock.ts');
  const { probeConnection } = await import('../project/setup.ts');
  const findings = [
    await check('folder', async () => {
      await access(dir, constants.W_OK).catch((cause: unknown) => {
        throw new UserError('not_writable', `${dir} cannot be written`, { hint: `chmod u+w ${dir}`, cause });
      });
      return 'writable';
    }),
    await check('disk', async () => {
      const { bavail, bsize } = await statfs(dir);
      const megabytes = Math.floor((bavail * bsize) / 1_000_000);
      if (megabytes < 100) throw new UserError('disk_full', `${megabytes} MB free`, { hint: 'make room: .ktx/cache may be deleted' });
      return `${megabytes} MB free`;
    }),
    await check('lock', () => withProjectLock(dir, async () => 'free', { waitMs: 0 })),
  ];
  for (const [name, config] of Object.entries(project.config.connections)) {
    progress.update(`connecting to ${name}`);
    findings.push(
      await check(`connection ${name}`, async () => `${(await probeConnection({ dir, name, config }, signal)).tables} tables`),
      await check(`login of ${name}`, async () => {
        const { readOnly, findings: rights } = await (await project.warehouse(name, signal)).privileges();
        return readOnly ? 'may only read' : { found: rights.join('; '), fix: 'give ktx a login with SELECT and nothing else' };
      }),
    );
    if (findings.at(-2)?.state === 'broken') findings.pop();
  }
  return findings;
}

async function check(name: string, run: () => Promise<string | { found: string; fix: string }>): Promise<Finding> {
  try {
    const result = await run();
    return typeof result === 'string' ? { check: name, state: 'ok', found: result } : { check: name, state: 'warning', ...result };
  } catch (error) {
    const fix = error instanceof UserError ? error.hint : 'reinstall ktx: npm install -g ktx';
    return { check: name, state: 'broken', found: messageOf(error), fix };
  }
}

async function gitVersion(): Promise<string> {
  const { git } = await import('../store/git.ts');
  return (await git(process.cwd(), ['--version'])).stdout.toString('utf8').trim().replace('git version ', '');
}
