import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { attachCommand, buildProgram } from '../../src/cli/program.ts';
import { registry } from '../../src/cli/registry.ts';
import { commandsByUsualWord, flagsByUsualName } from '../../src/cli/usual-words.ts';
import { generatedFiles } from '../../scripts/generate-docs.ts';
import { envelopeSchema, folder, ktx, ktxJson, shopProject } from './run-cli.ts';

const root = join(import.meta.dirname, '../..');
const main = join(root, 'src/cli/main.ts');

describe('the command line', () => {
  test('lists every command, with nothing typed and with --help and help', async () => {
    const cwd = folder();
    const outputs = await Promise.all([[], ['--help'], ['help']].map((argv) => ktx(argv, { cwd })));
    expect(outputs.map(({ code, stderr }) => ({ code, stderr }))).toEqual(
      outputs.map(() => ({ code: 0, stderr: '' })),
    );
    for (const { path } of registry)
      expect(outputs[0]?.stdout).toMatch(new RegExp(`^  ${path.split(' ')[0]} `, 'm'));
    expect(new Set(outputs.map(({ stdout }) => stdout)).size).toBe(1);
  });

  test.each(registry.map(({ path }) => path))(
    'ktx %s --help has a description and an example',
    async (path) => {
      const { code, stdout } = await ktx([...path.split(' '), '--help'], { cwd: folder() });
      expect(code).toBe(0);
      expect(stdout).toMatch(new RegExp(`^Usage: ktx ${path}[^]*Examples:\n  \\S`));
    },
  );

  test('suggests what was meant', async () => {
    const cwd = folder();
    const said = async (...argv: string[]) => {
      const { code, stdout, stderr } = await ktx(argv, { cwd });
      return { code, stdout, stderr };
    };
    expect(await said('sacn')).toMatchInlineSnapshot(`
      {
        "code": 2,
        "stderr": "error: Unknown command 'sacn' [usage]
        next: did you mean scan?
      ",
        "stdout": "",
      }
    `);
    expect(await said('scan', '--ignore-declard', 'all')).toMatchInlineSnapshot(`
      {
        "code": 2,
        "stderr": "error: Unknown option '--ignore-declard' [usage]
        next: did you mean --ignore-declared?
      ",
        "stdout": "",
      }
    `);
    expect(await said('sl', 'qurey')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('did you mean query?'),
    });
    expect(await said('--frobnicate')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("Unknown option '--frobnicate'"),
    });
    expect(await said('scan', 'a', 'b')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('ktx scan --help'),
    });
  });

  test.each([[['--help']], [['sl', 'query', '--help']], [['sl']]])(
    'help is data with --json: %s',
    async (argv) => {
      const { code, envelope } = await ktxJson(argv, { cwd: folder() });
      expect({ code, ok: envelope.ok }).toEqual({ code: 0, ok: true });
      const { stdout } = await ktx(argv, { cwd: folder() });
      expect(envelope.data).toEqual({ help: stdout.trimEnd() });
    },
  );

  test('--version is the package’s, as JSON too', async () => {
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      version: string;
    };
    expect(await ktx(['--version'], { cwd: folder() })).toEqual({
      code: 0,
      stdout: `${version}\n`,
      stderr: '',
    });
    const { envelope } = await ktxJson(['--version'], { cwd: folder() });
    expect(envelope).toMatchObject({ ok: true, data: { version, node: process.versions.node } });
  });

  test.each(registry.map(({ path }) => path))(
    'ktx %s answers an unknown flag with exit code 2 and an envelope',
    async (path) => {
      const { code, envelope, stderr } = await ktxJson([...path.split(' '), '--no-such-flag'], {
        cwd: folder(),
      });
      expect({ code, ok: envelope.ok, error: envelope.error?.code, stderr }).toEqual({
        code: 2,
        ok: false,
        error: 'usage',
        stderr: '',
      });
      expect(envelope.error?.message).toContain('--no-such-flag');
    },
  );

  test('a defect is one line, and the stack comes with --debug', async () => {
    const broken = { cwd: 7 as unknown as string };
    const { code, stdout, stderr } = await ktx(['connection', 'list'], broken);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(
      /^error: This is a bug in ktx: .+ \[internal\]\n {2}next: .*--debug.*\n$/,
    );
    expect((await ktx(['connection', 'list', '--debug'], broken)).stderr).toContain('\n    at ');
  });

  test('what the system refuses is no defect', async () => {
    const cwd = await shopProject();
    rmSync(join(cwd, '.ktx'), { recursive: true });
    writeFileSync(join(cwd, '.ktx'), 'a file where a folder belongs');
    const { code, envelope } = await ktxJson(['scan'], { cwd });
    expect({ code, error: envelope.error?.code }).toEqual({ code: 2, error: 'state_not_a_folder' });
  });
});

describe('as a process', () => {
  const run = (argv: readonly string[], options: { cwd: string; input?: string }) =>
    spawnSync(process.execPath, [main, ...argv], {
      encoding: 'utf8',
      env: { PATH: process.env['PATH'] },
      ...options,
    });

  test('prints its version and fails with the exit code of the error', () => {
    const cwd = folder();
    expect(run(['--version'], { cwd }).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
    const failed = run(['status', '--json'], { cwd });
    expect(failed.status).toBe(2);
    expect(envelopeSchema.parse(JSON.parse(failed.stdout)).error?.code).toBe('project_not_found');
    expect(failed.stderr).toBe('');
  });

  test('a reader that goes away is no failure', () => {
    const { status, stderr } = spawnSync(
      'sh',
      ['-c', `"${process.execPath}" "${main}" schema | head -c 1 > /dev/null; echo done`],
      {
        encoding: 'utf8',
      },
    );
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });

  test('setup without flags and without a terminal exits 2 and names the flag', () => {
    const { status, stderr } = run(['setup'], { cwd: folder() });
    expect(status).toBe(2);
    expect(stderr).toContain('--driver is missing');
  });
});

describe('what is generated is fresh: node scripts/generate-docs.ts', () => {
  test('reference pages and schemas', async () => {
    const stale = [...(await generatedFiles())]
      .filter(([path, text]) => readFileSync(join(root, path), 'utf8') !== text)
      .map(([path]) => path);
    expect(stale, 'write them with: node scripts/generate-docs.ts').toEqual([]);
  });
});

describe('the static import closure', () => {
  /**
   * Files of `src/` and packages that loading `file` loads; `import type` and `import()` load
   * nothing.
   */
  function closure(file: string, seen = new Set<string>()): Set<string> {
    if (seen.has(file)) return seen;
    seen.add(file);
    const text = readFileSync(file, 'utf8').replaceAll(/^import type [^;]+;/gm, '');
    for (const [, target = ''] of text.matchAll(
      /^(?:import|export)\s(?:[^;]*?\sfrom\s)?'([^']+)';/gm,
    )) {
      if (target.startsWith('.')) closure(join(dirname(file), target), seen);
      else if (!target.startsWith('node:')) seen.add(target);
    }
    return seen;
  }

  test('of the entry has the folder of compiled code, that of the runner the registry and commander', () => {
    const runner = join(root, 'src/cli/run.ts');
    expect([...closure(main)]).toEqual([main, join(root, 'src/cli/compiled-code.ts')]);
    const loaded = [...closure(runner)]
      .map((file) => (file.startsWith(root) ? relative(root, file) : file))
      .sort();
    expect(loaded).toMatchInlineSnapshot(`
      [
        "@commander-js/extra-typings",
        "src/cli/export/render-rows.ts",
        "src/cli/model-pause.ts",
        "src/cli/program.ts",
        "src/cli/registry.ts",
        "src/cli/run.ts",
        "src/cli/terminal/csv.ts",
        "src/cli/terminal/failure.ts",
        "src/cli/terminal/invocation.ts",
        "src/cli/terminal/json-keys.ts",
        "src/cli/terminal/progress.ts",
        "src/cli/terminal/screen.ts",
        "src/cli/terminal/table.ts",
        "src/cli/terminal/text-width.ts",
        "src/cli/usual-words.ts",
        "src/lib/error.ts",
        "src/lib/id.ts",
        "src/lib/suggest.ts",
        "src/lib/version.ts",
        "src/llm/governor/retries/pause-event.ts",
      ]
    `);
  });
});

describe('words that other tools use', () => {
  const hintOf = async (...argv: string[]) => {
    const { code, stderr } = await ktx(argv, { cwd: folder() });
    expect(code, stderr).toBe(2);
    return /next: did you mean (.+)\?/.exec(stderr)?.[1];
  };

  test.each(Object.entries(commandsByUsualWord))(
    'ktx %s is answered with %s',
    async (typed, meant) => {
      expect(await hintOf(...typed.split(' '), 'x')).toBe(meant);
      const path = meant.replace(/ --\w+$/, '');
      expect(registry.map((entry) => entry.path)).toContain(path);
      expect(registry.map((entry) => entry.path)).not.toContain(typed);
    },
  );

  test.each([
    [['sl', 'query', '--group-by', 'x'], '--dimension'],
    [['sl', 'query', '--measure', 'x'], '--metric'],
    [['sl', 'query', '--filter', 'x'], '--where'],
    [['sl', 'query', '--sort', 'x'], '--order-by'],
    [['sl', 'query', '--dry-run'], '--plan'],
    [['sl', 'query', '--database', 'x'], '--connection'],
    [['sql', '-f', 'x'], '--file'],
    [['sql', '--output', 'csv'], '--format'],
    [['ask', '--output', 'json', 'x'], '--output-format'],
    [['ask', '--verbose', 'x'], '--debug'],
    [['connection', 'add', '--type', 'x'], '--driver'],
    [['ingest', '--full-refresh'], '--re-extract'],
    [['ingest', '--group-by'], undefined],
    [['constructor'], undefined],
    [['sl', 'query', '--constructor'], undefined],
  ])('%s is answered with %s', async (argv, meant) => {
    expect(await hintOf(...argv)).toBe(meant);
  });

  test('each flag that is meant exists', async () => {
    const program = buildProgram(() => undefined);
    const known = new Set(program.options.map(({ long }) => long));
    for (const entry of registry) {
      const command = await attachCommand(program, entry, () => Promise.resolve());
      for (const { long } of command.options) known.add(long);
    }
    expect(
      [...new Set(Object.values(flagsByUsualName).flat())].filter((flag) => !known.has(flag)),
    ).toEqual([]);
  });

  test('init is setup, version and -v print the version', async () => {
    const cwd = folder();
    const { stdout } = await ktx(['init', '--help'], { cwd });
    expect(stdout).toBe((await ktx(['setup', '--help'], { cwd })).stdout);
    const version = (await ktx(['--version'], { cwd })).stdout;
    expect(version).toMatch(/^\d+\.\d+/);
    for (const word of ['version', '-v']) expect((await ktx([word], { cwd })).stdout).toBe(version);
  });
});
