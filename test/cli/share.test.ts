import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { GroundedClaim } from '../../src/chat/grounding/ground-answer.ts';
import type { ShownExchange } from '../../src/cli/chat/shown-exchanges.ts';
import { renderMarkedAnswer } from '../../src/cli/share/marked-answer.ts';
import { renderSharePage } from '../../src/cli/share/share-page.ts';
import { type AskedProject, openAskedProject } from '../support/asked-project.ts';
import { inTurn, say, use } from '../support/model-script.ts';
import { folder, ktx } from './run-cli.ts';

const attack = '<img src=x onerror="document.title=\'ran\'"><script>document.title="ran"</script>';
const at = new Date('2026-01-02T03:04:05Z');
const exchange: ShownExchange = {
  message: `What is ${attack}?`,
  text: `It is **12** ${attack}\n\n![p](https://evil.example/p.png) [l](https://evil.example) [j](javascript:alert(1))\n\n| a |\n|---|\n| ${attack} |`,
  evidence: [
    {
      id: 'q1',
      call: 'c',
      tool: 'run_sql',
      connection: attack,
      sql: `SELECT '${attack}'`,
      columns: [
        { name: `"'${attack}`, type: 'string' },
        { name: attack, type: 'integer' },
      ],
      rows: [
        [attack, 12],
        ['b</text></svg>', 7],
        ['c', 1],
      ],
      truncated: true,
      warnings: [attack],
      ms: 1,
    },
    {
      id: 'q2',
      call: 'c',
      tool: 'run_sql',
      columns: [
        { name: 'm', type: 'date' },
        { name: attack, type: 'integer' },
      ],
      rows: ['2024-01-01', '2024-02-01', '2024-03-01', '2024-04-01'].map((day, n) => [day, n]),
      truncated: false,
      ms: 1,
    },
  ],
  receipt: attack,
  grounding: [
    {
      kind: 'number',
      text: '12',
      span: [8, 10],
      status: 'cell',
      evidence: [{ query: 'q1', row: 0, column: attack }],
    },
    {
      kind: 'member',
      text: attack,
      span: [13, 13 + attack.length],
      status: 'ungrounded',
      evidence: [],
      reason: attack,
    },
  ],
};
const page = renderSharePage([exchange], { about: attack, at });
const chromium = ['chromium', 'chromium-browser', 'google-chrome'].find(
  (name) => spawnSync(name, ['--version']).error === undefined,
);

let project: AskedProject;
beforeAll(async () => {
  project = await openAskedProject();
});
afterAll(() => project?.close());

describe('the page of an answer', () => {
  test('has the answer, charts, rows, SQL and receipt, all text as text', () => {
    expect(page).not.toMatch(/<img|<script/);
    expect(page.replaceAll(/"[^"]*"/g, '""')).not.toMatch(/<[^>]*\s(?:src|href|action)=/);
    expect(page).not.toContain('url(');
    expect(page).toContain('default-src &#39;none&#39;');
    expect(page).toMatch(
      /<strong><span class="grounded" title="q1, row 1, [^"]*">12<\/span><\/strong>/,
    );
    expect(page).toMatch(
      /<mark title="not grounded: &lt;img[^"<>]*">&lt;img[^<>]*&lt;\/script&gt;<\/mark>/,
    );
    expect(page).toContain('1 of 2 numbers, dates and names are grounded');
    expect(page.match(/<svg /g)).toHaveLength(2);
    expect(page).toMatch(/<rect class="bar"[^]*<polyline class="line line-0"/);
    expect(page).toMatch(/<pre>SELECT &#39;&lt;img/);
    expect(page).toContain('3 rows, and there are more');
    expect(page).toContain('2026-01-02 03:04 UTC');
    expect(page).toMatch(/light-dark\(/);
    expect(page).toContain('@media print');
  });

  test('marks end at tags, and stand in no address and no attribute', () => {
    const text = '12 **and 3** 4\n\n```c5\n6\n```\n\n[7](https://e.example/8) \u{f0000}x';
    const marks = [/12 \*\*and 3\*\* 4/, /5/, /6/, /7/, /8/].map((pattern): GroundedClaim => {
      const start = text.search(pattern);
      const found = pattern.exec(text)?.[0] ?? '';
      const span = [start, start + found.length] as const;
      return { kind: 'number', text: found, span, status: 'question', evidence: [] };
    });
    const marked = renderMarkedAnswer(text, marks).text.replaceAll(/<span [^>]*>/g, '<span>');
    expect(marked).toContain(
      '<p><span>12 </span><strong><span>and 3</span></strong><span> 4</span></p>',
    );
    expect(marked).toContain('class="language-c5"><span>6</span>');
    expect(marked).toContain('<span>7</span> (https://e.example/8)');
    expect(marked).not.toMatch(/[\u{f0000}-\u{10ffff}]/u);
  });

  test.skipIf(chromium === undefined)('runs nothing in a browser, hostile names or not', () => {
    const path = join(folder(), 'page.html');
    // Without the policy, so that escaping alone has to hold.
    writeFileSync(path, page.replace(/<meta http-equiv[^>]*>/, ''));
    const flags = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'];
    const dom = execFileSync(chromium ?? '', [...flags, '--dump-dom', `file://${path}`], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    expect(dom).toContain('<title>What is &lt;img');
    expect(dom).not.toMatch(/<img|<script|<a /);
    expect(dom).toMatch(/<rect [^>]*class="bar"|<rect class="bar"/);
  });
});

describe('sharing', () => {
  const script = () =>
    inTurn(
      use('query_metrics', { metrics: ['orders.revenue'], dimensions: ['orders.status'] }),
      say('Revenue is **here** [q1], not 987654.'),
      say('Yes.'),
    );

  test('ktx ask --share writes the page, and no file that is there', async () => {
    project.playing(script());
    const { code, stderr } = await ktx(['ask', 'What is revenue?', '--share', 'a.html'], {
      cwd: project.dir,
    });
    expect([code, stderr]).toEqual([0, expect.stringMatching(/wrote .*a\.html/)]);
    const text = readFileSync(join(project.dir, 'a.html'), 'utf8');
    expect(text).toMatch(
      /<h1>What is revenue\?<\/h1>[^]*<strong>here<\/strong>[^]*orders\.revenue/,
    );
    expect(text).toMatch(/rows of orders[^]*semantic-layer\/shop\/orders\.yaml/);
    const running = project.playing(script());
    const again = await ktx(['ask', 'What is revenue?', '--share', 'a.html'], {
      cwd: project.dir,
    });
    expect([again.code, running.calls.length]).toEqual([2, 0]);
    expect(again.stderr).toContain('a.html exists');
  });

  test('ktx chat --share writes all answers when the chat ends, and no file that is there', async () => {
    const running = project.playing(script());
    const argv = ['chat', '--share', 'talk.html'];
    const { code, stderr } = await ktx(argv, { cwd: project.dir, stdin: 'Revenue?\nSure?\n' });
    expect([code, stderr]).toEqual([0, expect.stringMatching(/wrote .*talk\.html/)]);
    const text = readFileSync(join(project.dir, 'talk.html'), 'utf8');
    expect(text).toMatch(
      /<h1>Revenue\?<\/h1>[^]*<mark title="[^"]*">987654<\/mark>[^]*<h1>Sure\?<\/h1>[^]*Yes\./,
    );
    const paid = running.calls.length;
    const again = await ktx(argv, { cwd: project.dir, stdin: 'Revenue?\n' });
    expect([again.code, running.calls.length]).toEqual([2, paid]);
    expect(again.stderr).toContain('talk.html exists');
  });

  test('/share --all writes every answer, of earlier turns too', async () => {
    project.playing(script());
    await ktx(['chat'], { cwd: project.dir, stdin: 'Revenue?\n' });
    const { stdout, stderr } = await ktx(['chat', '--resume'], {
      cwd: project.dir,
      typed: ['Sure?', '/share last.html', '/share all.html --all', '/share all.html --all'],
    });
    expect(stdout).toMatch(/wrote .*last\.html[^]*wrote .*all\.html/);
    expect(stdout + stderr).toContain('/share all.html --all --overwrite');
    const headings = (name: string) =>
      readFileSync(join(project.dir, name), 'utf8').match(/<h1>[^<]*<\/h1>/g);
    expect(headings('last.html')).toEqual(['<h1>Sure?</h1>']);
    expect(headings('all.html')).toEqual(['<h1>Revenue?</h1>', '<h1>Sure?</h1>']);
  });

  test('evidence of earlier turns is there after --resume: rows, receipt, SQL, export, page', async () => {
    project.playing(script());
    await ktx(['chat'], { cwd: project.dir, stdin: 'What is revenue?\n' });
    const { stdout, stderr } = await ktx(['chat', '--resume'], {
      cwd: project.dir,
      env: { COLUMNS: '200' },
      typed: [
        '/rows q1',
        '/why',
        '/export q1 old.csv',
        '/share old.html',
        '/chart',
        '/save old.md',
        '/save old.md',
        'Is that so [q1]?',
      ],
    });
    expect(stdout).toMatch(/\[q1\] 2 rows\n.*orders\.status/);
    expect(stdout).toMatch(/\[q1\] query_metrics, \d+ ms\n {2}orders\.revenue: .*curated/);
    expect(stdout).toMatch(/wrote 2 rows of q1 to .*old\.csv/);
    expect(stdout).toMatch(/\[q1\].*orders\.revenue.*\n\w+ +[\d,.]+ +█/);
    expect(stdout.match(/wrote .*old\.md/g)).toHaveLength(2);
    const old = readFileSync(join(project.dir, 'old.html'), 'utf8');
    expect(old).toContain('orders.revenue');
    // What an earlier turn said is checked, too.
    expect(old).toMatch(/<mark title="not grounded: nothing in q1 gives it">987654<\/mark>/);
    expect(stderr).not.toContain('not grounded');
  });
});

describe('an ambiguous name', () => {
  const ambiguous = (n: number) =>
    n === 1
      ? use('query_metrics', { metrics: ['orders.revenue'], dimensions: ['customers.region'] })
      : say('Which region?');

  test('can be picked by its number; in a pipe the choices are told', async () => {
    const file = join(project.dir, 'semantic-layer/shop/orders.yaml');
    const role = '  - {to: customers, on: {customer_id: id}, role: recipient}\n';
    writeFileSync(file, `${readFileSync(file, 'utf8')}${role}`);
    const running = project.playing(({ n }) => ambiguous(n));
    const { stderr } = await ktx(['chat'], {
      cwd: project.dir,
      env: { COLUMNS: '120' },
      typed: ['By region?', 'y', '/2'],
    });
    const listed = [...stderr.matchAll(/^ {2}\/(\d) {2}(\S+)$/gm)].map(([, , name]) => name);
    expect(listed).toEqual(['orders.buyer.region', 'orders.recipient.region']);
    expect(running.calls.at(-1)?.messages.map(({ text }) => text)).toContain(
      `I mean ${listed[1]}.`,
    );
    project.playing(({ n }) => ambiguous(n));
    const piped = await ktx(['ask', 'By region?'], { cwd: project.dir });
    expect(piped.stderr).toContain(`it may mean ${listed.join(' or ')}.`);
  });
});
