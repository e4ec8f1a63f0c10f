import { execFileSync, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openEmbeddingEndpoint } from '../support/embedding-endpoint.ts';
import { fakeKeychain } from '../support/fake-keychain.ts';
import { createDatabase, runPostgres } from '../support/postgres.ts';

const hasTmux = spawnSync('tmux', ['-V']).error === undefined;
const main = join(import.meta.dirname, '../../src/cli/main.ts');

/**
 * A newcomer types in a real terminal; skipped where tmux is not installed. There ktx asks only
 * where `CI` is not set, so the shell has none.
 */
describe.skipIf(!hasTmux)('a newcomer at a terminal', () => {
  const dir = mkdtempSync(join(tmpdir(), 'ktx-test-terminal-'));
  const socket = join(dir, 'tmux');
  const tmux = (...args: readonly string[]): string =>
    execFileSync('tmux', ['-S', socket, '-f', '/dev/null', ...args], { encoding: 'utf8' });
  const type = (...keys: readonly string[]): string => tmux('send-keys', '-t', 'ktx', ...keys);
  const screen = (): string => tmux('capture-pane', '-p', '-t', 'ktx', '-S', '-200');
  const sees = (text: RegExp) =>
    expect.poll(screen, { timeout: 120_000, interval: 100 }).toMatch(text);

  beforeAll(() => {
    const db = new DatabaseSync(join(dir, 'shop.db'));
    db.exec(`CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT); CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER, amount INTEGER);
      INSERT INTO customers VALUES (1, 'a'), (2, 'b'), (3, 'c'); INSERT INTO orders VALUES (1, 1, 5), (2, 2, 7), (3, 2, 9), (4, 3, 1);`);
    db.close();
    tmux(
      'new-session',
      '-d',
      '-s',
      'ktx',
      '-x',
      '140',
      '-y',
      '50',
      '-c',
      dir,
      // Not the keychain, and not the MCP clients, of whoever runs the tests.
      `env -u CI -u XDG_CONFIG_HOME HOME="${join(dir, 'home')}" PATH="${fakeKeychain(join(dir, 'keychain'), process.platform)}:$PATH" PS1="ready> " sh`,
    );
    type(
      `ktx() { ${process.execPath} --disable-warning=ExperimentalWarning ${main} "$@"; }; clear`,
      'Enter',
    );
  });
  afterAll(() => {
    spawnSync('tmux', ['-S', socket, 'kill-server']);
    rmSync(dir, { recursive: true, force: true });
  });

  test('goes from nothing to a scanned database, with an answer that does not work between', async () => {
    type('ktx setup', 'Enter');
    // What is in the folder comes first.
    await sees(/What do you want to connect to\?\s+│ +● shop\.db \(a SQLite database\)/);
    type('Down');
    await sees(/● Something else/);
    type('Enter');
    await sees(/● DuckDB[^●]*$/);
    type('Down');
    await sees(/● SQLite/);
    type('Enter');
    await sees(/SQLite database file/);
    type('nothing-there.db', 'Enter');
    await sees(/does not exist/);
    // The driver was right, so only the path is asked again.
    await sees(/SQLite database file[^]*does not exist[^]*SQLite database file/);
    type('shop.db', 'Enter');
    await sees(/connected in \d+ ms, 2 tables/);
    type('C-c');
    await sees(/No LLM was chosen/);
    expect(existsSync(join(dir, 'ktx.yaml'))).toBe(true);
    expect(readFileSync(join(dir, 'ktx.yaml'), 'utf8')).toContain('path: shop.db');
    type('clear; ktx scan', 'Enter');
    await sees(/orders\(customer_id\)\s+customers\(id\)\s+accepted/);
  });

  test('adds a source that is named and described at the terminal', async () => {
    mkdirSync(join(dir, 'docs'));
    writeFileSync(join(dir, 'docs/terms.md'), '# Terms\n');
    type('clear; ktx connection add', 'Enter');
    await sees(/Name of the connection/);
    type('notes', 'Enter');
    await sees(/notes are reserved names/);
    type('BSpace', 'BSpace', 'BSpace', 'BSpace', 'BSpace', 'handbook', 'Enter');
    await sees(/What do you want to connect to\?/);
    // However many kinds of warehouses stand before it.
    const above = screen()
      .split('\n')
      .filter((line) => /^│ {2}[○●] /.test(line))
      .findIndex((line) => line.includes('a folder of documents'));
    expect(above).toBeGreaterThan(0);
    type(...Array.from({ length: above }, () => 'Down'));
    await sees(/● a folder of documents/);
    type('Enter');
    await sees(/A folder of Markdown/);
    type('docs', 'Enter');
    await sees(/handbook: 1 item/);
    expect(readFileSync(join(dir, 'ktx.yaml'), 'utf8')).toContain('driver: docs');
  });

  test('of Postgres, with a wrong password first and the right one then', async () => {
    const url = await createDatabase('terminal');
    await runPostgres(
      url,
      'CREATE TABLE customers (id int PRIMARY KEY); CREATE TABLE orders (id int PRIMARY KEY, customer_id int REFERENCES customers)',
    );
    const wrong = Object.assign(new URL(url), { password: 'wrong' }).href;
    mkdirSync(join(dir, 'pg'));
    type(
      `cd ${join(dir, 'pg')}; export WRONG='${wrong}' RIGHT='${url}'; clear; tmux -S ${socket} clear-history; ktx setup`,
      'Enter',
    );
    const answered = async (variable: string) => {
      await sees(/● DuckDB[^●]*$/);
      type('Down', 'Down', 'Down', 'Down');
      await sees(/● Postgres/);
      type('Enter');
      await sees(/postgresql:\/\/user@host:5432[^]*$/);
      type(`env:${variable}`, 'Enter');
    };
    await answered('WRONG');
    await sees(/refused the login/);
    expect(existsSync(join(dir, 'pg/ktx.yaml'))).toBe(false);
    await answered('RIGHT');
    await sees(/connected in \d+ ms, 2 tables/);
    await sees(/Which LLM may ktx use\?/);
    type('Enter');
    await sees(/llm: none/);
    await sees(/Read the warehouse now\?/);
    type('Down', 'Enter');
    await sees(/next +.*ingest/);
    expect(readFileSync(join(dir, 'pg/ktx.yaml'), 'utf8')).toContain('url: env:RIGHT');
    type('clear; ktx scan', 'Enter');
    await sees(/orders\(customer_id\)\s+customers\(id\)\s+accepted/);
  });

  test('of Postgres, with a password that is typed unseen and kept in .env', async () => {
    const url = new URL(await createDatabase('typed'));
    await runPostgres(url.href, 'CREATE TABLE customers (id int PRIMARY KEY)');
    const folder = join(dir, 'typed');
    mkdirSync(folder);
    writeFileSync(join(folder, '.env'), "OTHER='x'\n");
    type(`cd ${folder}; clear; tmux -S ${socket} clear-history; ktx setup`, 'Enter');
    await sees(/● DuckDB[^●]*$/);
    type('Down', 'Down', 'Down', 'Down');
    await sees(/● Postgres/);
    type('Enter');
    await sees(/postgresql:\/\/user@host:5432[^]*$/);
    type(Object.assign(new URL(url), { password: 'pasted-one' }).href, 'Enter');
    await sees(/The password is not kept there/);
    await sees(/Password for warehouse/);
    type('wrong-one', 'Enter');
    await sees(/refused the login[^]*Password for warehouse/);
    type('-l', url.password);
    type('Enter');
    await sees(/Where shall ktx keep it\?/);
    type('Down');
    await sees(/● the file \.env/);
    type('Enter');
    await sees(/connected in \d+ ms, 1 table/);
    expect(screen()).not.toContain('wrong-one');
    const config = readFileSync(join(folder, 'ktx.yaml'), 'utf8');
    expect(config).toContain('password: env:WAREHOUSE_PASSWORD');
    expect(config).not.toContain('pasted-one');
    const { mode } = statSync(join(folder, '.env'));
    expect((mode & 0o777).toString(8)).toBe('600');
    expect(readFileSync(join(folder, '.env'), 'utf8')).toBe(
      `OTHER='x'\nWAREHOUSE_PASSWORD='${url.password}'\n`,
    );
    expect(readFileSync(join(folder, '.gitignore'), 'utf8')).toBe('.env\n');
    expect(screen()).toMatch(/: wrote .*ktx\.schema\.json, \.env, \.gitignore$/m);
    await sees(/Which LLM may ktx use\?/);
    type('Enter');
    await sees(/llm: none/);
    await sees(/Read the warehouse now\?/);
    type('Down', 'Enter');
    await sees(/next +.*ingest/);
    type('clear; ktx scan', 'Enter');
    await sees(/1 table, 1 key/);
  });

  test('of Postgres, with a password that is kept in the keychain once it opens', async () => {
    const url = new URL(await createDatabase('keychain'));
    const folder = join(dir, 'kept');
    mkdirSync(folder);
    const { password } = url;
    url.password = '';
    writeFileSync(join(dir, 'keychain/locked'), '');
    const flags = `--driver postgres --url ${url.href} --llm-backend none --no-ingest`;
    const setup = `ktx setup ${flags} --keep-password keychain`;
    type(`cd ${folder}; clear; tmux -S ${socket} clear-history; echo first; ${setup}`, 'Enter');
    await sees(/^first\n[^]*Password for warehouse/m);
    type('-l', password);
    type('Enter');
    await sees(/The keychain did not keep the password: Cannot get secret/);
    rmSync(join(dir, 'keychain/locked'));
    type(`clear; tmux -S ${socket} clear-history; echo again; ktx setup ${flags}`, 'Enter');
    await sees(/^again\n[^]*Password for warehouse/m);
    type('-l', password);
    type('Enter');
    await sees(/Where shall ktx keep it\?[^]*● the keyring|● the macOS keychain/);
    type('Enter');
    await sees(/connected in \d+ ms, 0 tables/);
    expect(existsSync(join(folder, '.env'))).toBe(false);
    expect(readFileSync(join(folder, 'ktx.yaml'), 'utf8')).toMatch(
      /password: keychain:ktx\/warehouse-[\da-f]{8}\n/,
    );
    type('clear; ktx connection test', 'Enter');
    await sees(/connected in \d+ ms, 0 tables/);
  });

  test('of a dbt project, whose profile has the password', async () => {
    const url = new URL(await createDatabase('profile'));
    await runPostgres(url.href, 'CREATE TABLE customers (id int PRIMARY KEY)');
    const folder = join(dir, 'dbt');
    mkdirSync(join(folder, 'models'), { recursive: true });
    const put = (name: string, text: string) => writeFileSync(join(folder, name), text);
    put('dbt_project.yml', "name: shop\nversion: '1.0'\nprofile: shop\n");
    put('models/all_customers.sql', 'select * from customers\n');
    const { hostname, port, username, password, pathname } = url;
    const login = `host: ${hostname}, port: ${port}, user: ${username}, password: ${password}`;
    const target = `{type: postgres, ${login}, dbname: ${pathname.slice(1)}, schema: public}`;
    put('profiles.yml', `shop:\n  target: dev\n  outputs:\n    dev: ${target}\n`);
    const clear = `clear; tmux -S ${socket} clear-history`;
    const flags = '--llm-backend none --no-ingest --keep-password file';
    type(`cd ${folder}; ${clear}; echo dbt; ktx setup --from-dbt . ${flags}`, 'Enter');
    await sees(/^dbt\n[^]*Password for warehouse; Enter takes the one in profiles\.yml/m);
    type('Enter');
    await sees(/connected in \d+ ms, 1 table[^]*the dbt project in/);
    expect(screen()).not.toMatch(/WAREHOUSE_PASSWORD/);
    expect(readFileSync(join(folder, 'ktx.yaml'), 'utf8')).toMatch(/password: file:/);
    // Nothing was asked, so nothing can become better by trying again.
    const other = '--driver postgres --host 127.0.0.1 --port 1 --database a --user b';
    mkdirSync(join(dir, 'nowhere'));
    type(`cd ${join(dir, 'nowhere')}; ${clear}; echo once; ktx setup ${other}`, 'Enter');
    await sees(/^once\n[^]*error: [^]*ready>/m);
  });

  test('of a source in a folder of the project, which is asked for', async () => {
    const folder = join(dir, 'asked');
    mkdirSync(join(folder, 'transform/models'), { recursive: true });
    const put = (name: string, text: string) => writeFileSync(join(folder, name), text);
    put('transform/dbt_project.yml', "name: shop\nversion: '1.0'\nprofile: shop\n");
    put('transform/models/all.sql', 'select * from customers\n');
    const clear = `clear; tmux -S ${socket} clear-history`;
    const flags = '--driver sqlite --path ../shop.db --llm-backend none --no-ingest';
    type(`cd ${folder}; ${clear}; ktx setup ${flags}`, 'Enter');
    await sees(/connected in \d+ ms, 2 tables[^]*ready>/);
    type(`${clear}; ktx connection add models`, 'Enter');
    await sees(/What do you want to connect to\?/);
    for (let at = 0; at < 30 && !/● a dbt project/.test(screen()); at += 1) {
      type('Down');
      await new Promise((resolve) => setTimeout(resolve, 150));
    }
    await sees(/● a dbt project/);
    type('Enter');
    await sees(/The folder that contains dbt_project\.yml/);
    type('transform', 'Enter');
    await sees(/models: \d+ items?/);
    expect(readFileSync(join(folder, 'ktx.yaml'), 'utf8')).toContain('path: transform');
  });

  test('of a folder of CSV files', async () => {
    mkdirSync(join(dir, 'duck/exports'), { recursive: true });
    writeFileSync(
      join(dir, 'duck/exports/customers.csv'),
      `id,name\n${Array.from({ length: 30 }, (_, n) => `${n * 7 + 3},c${n}`).join('\n')}\n`,
    );
    writeFileSync(
      join(dir, 'duck/exports/orders.csv'),
      `id,customer_id,amount\n${Array.from({ length: 90 }, (_, n) => `${n + 1},${(n % 30) * 7 + 3},${n}.5`).join('\n')}\n`,
    );
    type(`cd ${join(dir, 'duck')}; clear; tmux -S ${socket} clear-history; ktx setup`, 'Enter');
    await sees(/● exports \(2 files of tables, such as customers\.csv\)/);
    type('Enter');
    await sees(/connected in \d+ ms, 2 tables/);
    await sees(/Which LLM may ktx use\?/);
    type('Enter');
    await sees(/llm: none/);
    await sees(/Read the warehouse now\?/);
    type('Enter');
    await sees(/2 datasets, 1 join\s+orders\.customer_id → customers/);
    await sees(/ktx proposes 1 measure: orders\.total_amount\. Is it right\?[^]*○ yes\n/);
    type('Down', 'Enter');
    await sees(/Ask a first question:/);
    type('Up', 'Enter');
    // Nothing is asked again that is decided.
    await sees(/│ {2}back to the question before[^]*◆ {2}Ask a first question:/);
    type('Enter');
    await sees(/ktx sl query -m orders\.total_amount -d orders\.[^]*orders\.total_amount/);
    await sees(/1 row|\d+ rows in/);
    await sees(/next +.*sl list/);
    expect(readFileSync(join(dir, 'duck/pins.yaml'), 'utf8')).toContain('total_amount');
  });

  test('is offered embeddings where there is a language model, until they answer', async () => {
    await using endpoint = await openEmbeddingEndpoint();
    const folder = join(dir, 'meaning');
    mkdirSync(folder);
    writeFileSync(
      join(folder, 'ktx.yaml'),
      'connections:\n  shop:\n    driver: sqlite\n    path: ../shop.db\nllm:\n  provider:\n    backend: anthropic\n    anthropic:\n      api_key: env:NO_KEY\n',
    );
    const answered = async (url: string) => {
      await sees(/Find what means the same, by embeddings\?[^]*● none[^◇]*$/);
      type('Down', 'Down', 'Enter');
      await sees(/localhost:11434[^◇]*$/);
      type('C-u');
      type(url, 'Enter');
      await sees(/nomic-embed-text[^◇]*$/);
      type('Enter');
    };
    type(`cd ${folder}; clear; tmux -S ${socket} clear-history; ktx setup`, 'Enter');
    await answered('http://127.0.0.1:9/v1');
    await sees(/check that a server answers at http:\/\/127\.0\.0\.1:9\/v1/);
    tmux('clear-history', '-t', 'ktx');
    await answered(endpoint.url);
    await sees(/Read the warehouse now\?/);
    type('Down', 'Enter');
    const config = readFileSync(join(folder, 'ktx.yaml'), 'utf8');
    expect(config).toMatch(/embeddings:\n +provider: openai\n/);
    expect(config).toContain(`base_url: ${endpoint.url}`);
    await sees(/ready>\s*$/);
    type(`clear; tmux -S ${socket} clear-history; ktx setup`, 'Enter');
    await sees(/Read the warehouse now\?/);
    expect(screen()).not.toContain('by embeddings?');
    type('C-c');
  });
});
