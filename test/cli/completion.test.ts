import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { completeLine } from '../../src/cli/completion/complete-line.ts';
import { registry } from '../../src/cli/registry.ts';
import { run, temporaryFolder } from '../store/git-project.ts';
import { ktx, shopDatabase } from './run-cli.ts';

const main = join(import.meta.dirname, '../../src/cli/main.ts');
const has = (shell: string): boolean => spawnSync(shell, ['-c', 'true']).error === undefined;

describe('completion', () => {
  let dir = '';
  const at = (line: string) => completeLine(`ktx ${line}`, { cwd: dir, env: {} });

  beforeAll(async () => {
    dir = temporaryFolder();
    run(dir, 'init', '-q');
    shopDatabase(join(dir, 'shop.db'));
    await ktx(['setup', '--driver', 'sqlite', '--path', 'shop.db'], { cwd: dir });
    await ktx(['ingest'], { cwd: dir });
    mkdirSync(join(dir, 'evals'));
    writeFileSync(
      join(dir, 'evals/money.yaml'),
      'cases:\n  - id: revenue-2025\n    question: How much?\n  - {id: "open-orders", question: q}\n',
    );
    mkdirSync(join(dir, '.ktx/logs'), { recursive: true });
    writeFileSync(
      join(dir, '.ktx/logs/tools.jsonl'),
      '{"result":{"query_id":"q_mfq3k2lz0a1b2c3d"}}\n',
    );
  });

  test('offers every command, by its words', () => {
    for (const { path } of registry) {
      const words = path.split(' ');
      for (const [index, word] of words.entries())
        expect(at([...words.slice(0, index), word.slice(0, 2)].join(' '))).toContain(word);
    }
    expect(at('sl v')).toEqual(['validate']);
    expect(at('nothing-like-this ')).toEqual([]);
  });

  test.each([
    ['scan ', ['warehouse']],
    ['ingest ware', ['warehouse']],
    ['sl list --connection ', ['warehouse']],
    ['sl read c', ['customers']],
    ['sl query -m orders.', ['orders.count', 'orders.total_amount']],
    ['sl query -m orders.count -d orders.st', ['orders.status']],
    ['sl dimensions orders.', ['orders.count', 'orders.total_amount']],
    ['sl metrics --by orders.st', ['orders.status']],
    ['explain field:warehouse.customers.re', ['field:warehouse.customers.region']],
    ['explain q_', ['q_mfq3k2lz0a1b2c3d']],
    ['eval run ', ['money']],
    ['eval run money --case rev', ['revenue-2025']],
    ['eval run --case o', ['open-orders']],
    ['scan --ignore-declared ', ['keys', 'links', 'all']],
    ['setup --driver my', ['mysql']],
    ['scan --max-s', ['--max-seconds']],
    ['search x --conn', ['--connection']],
    ['completion z', ['zsh']],
    ['--project-dir . sc', ['scan', 'schema']],
  ])('of %j is %j', (line, words) => {
    expect(at(line)).toEqual(words);
  });

  test('says nothing where there is no project, and of a broken one what can be read', () => {
    expect(completeLine('ktx scan ', { cwd: temporaryFolder(), env: {} })).toEqual([]);
    const broken = temporaryFolder();
    writeFileSync(
      join(broken, 'ktx.yaml'),
      'connections:\n  "a": {driver: duckdb\n  b$(touch x):\n  c:\n    path: x\nscan: [',
    );
    expect(completeLine('ktx scan ', { cwd: broken, env: {} })).toEqual(['a', 'c']);
  });

  /** In a real shell, by the script that `ktx completion` prints; `ktx` itself is this clone's. */
  const inShell = async (shell: string, script: (printed: string) => string): Promise<string[]> => {
    const { stdout } = await ktx(['completion', shell], { cwd: dir });
    const own = `ktx() { ${process.execPath} --disable-warning=ExperimentalWarning ${main} "$@"; }\n`;
    return execFileSync(shell, ['-c', `${own}${script(stdout)}`], { cwd: dir, encoding: 'utf8' })
      .trim()
      .split('\n');
  };

  test.each([
    ['ktx sl re', ['read']],
    ['ktx sl query -m orders.', ['orders.count', 'orders.total_amount']],
    // Bash begins a word anew after a colon.
    ['ktx explain field:warehouse.customers.re', ['warehouse.customers.region']],
    ['ktx sc', ['scan', 'schema']],
  ])('answers bash: %s', async (line, words) => {
    const asked = `COMP_LINE='${line}' COMP_POINT=${line.length} COMP_WORDS=(${line}) COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))`;
    const lines = await inShell(
      'bash',
      (script) =>
        `${script}\ncomplete -p ktx; ${asked}; _ktx ktx; printf '%s\\n' "\${COMPREPLY[@]}"`,
    );
    expect(lines).toEqual(['complete -o default -F _ktx ktx', ...words]);
  });

  test.skipIf(!has('zsh'))('answers zsh', async () => {
    const rest = `words=(ktx sl re); CURRENT=3; compadd() { shift; print -l -- \${(P)1}; }; _ktx`;
    expect(await inShell('zsh', (script) => `compdef() { :; }\n${script}\n${rest}`)).toEqual([
      'read',
    ]);
  });

  test.skipIf(!has('fish'))('answers fish', async () => {
    const { stdout } = await ktx(['completion', 'fish'], { cwd: dir });
    const own = `function ktx; ${process.execPath} ${main} $argv; end\n`;
    const found = execFileSync('fish', ['-c', `${own}${stdout}\ncomplete -C 'ktx sl re'`], {
      cwd: dir,
      encoding: 'utf8',
    });
    expect(found).toContain('read');
  });
});
