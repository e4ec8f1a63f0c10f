import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { writeRun } from '../../src/eval/run/run-file.ts';
import { type AskedProject, openAskedProject } from '../support/asked-project.ts';
import { say, use } from '../support/model-script.ts';
import { axeViolations, chromium, goTo, looks, openPage, settle } from './browser.ts';
import { startPage } from './page.ts';

/** Where screenshots go, if a person wants to look. */
const shots = process.env['KTX_SCREENSHOTS'];

let project: AskedProject;

beforeAll(async () => {
  if (chromium === undefined) return;
  project = await openAskedProject();
  const file = join(project.dir, 'semantic-layer/shop/orders.yaml');
  const role = '  - {to: customers, on: {customer_id: id}, role: recipient}\n';
  writeFileSync(file, `${readFileSync(file, 'utf8')}${role}`);
  await writeRun(project.dir, evalRun);
});
afterAll(() => project?.close());

/** A model that asks back about an ambiguous name. Returns what it was told. */
function playConversation(): () => readonly string[] {
  const byRegion = { metrics: ['orders.revenue'], dimensions: ['customers.region'] };
  const byStatus = { metrics: ['orders.revenue'], dimensions: ['orders.status'] };
  const turns = [
    use('query_metrics', byRegion),
    say('Which region?'),
    use('query_metrics', byStatus),
    say('Revenue is 987654 EUR [q1].'),
  ];
  const model = project.playing(({ n }) => turns[(n - 1) % turns.length] ?? say('No.'));
  return () => model.calls.flatMap(({ messages }) => messages.map(({ text }) => text));
}

describe.skipIf(chromium === undefined)('in a browser, with a model', () => {
  test.for(looks)(
    'at $width px, $scheme a question has choices, evidence, a chart and marks',
    async (look) => {
      const told = playConversation();
      await using own = await startPage(project.dir);
      const { page: tab, problems } = await openPage(own, look);
      await goTo(tab, '#/ask');
      await tab.locator('textarea').fill('By region?');
      await tab.keyboard.press('Enter');
      const choices = tab.locator('.choices button');
      await choices.first().waitFor();
      expect(await choices.allInnerTexts()).toEqual([
        'orders.buyer.region',
        'orders.recipient.region',
      ]);
      expect(await axeViolations(tab)).toEqual([]);
      await choices.nth(1).click();
      await tab.locator('.evidence-card').first().waitFor();
      await settle(tab);
      expect(told().some((text) => text.includes('I mean orders.recipient.region.'))).toBe(true);
      // A number that no query gives, and the query that was asked.
      expect(await tab.locator('.exchange mark').innerText()).toContain('987654');
      await tab.locator('.evidence-card summary').click();
      expect(await tab.locator('.evidence-card .mark-bar').count()).toBeGreaterThan(1);
      expect(await tab.locator('.evidence-card pre').innerText()).toContain('SELECT');
      // Words of a chart are as large on a phone.
      const word = tab.locator('.evidence-card .chart text').first();
      const tall = () => word.evaluate((text) => text.getBoundingClientRect().height);
      await expect.poll(tall).toBeGreaterThanOrEqual(11);
      expect(await tab.locator('.choices').count()).toBe(0);
      await tab.locator('.exchange button', { hasText: 'Remember this' }).last().click();
      await tab.locator('[role=status]', { hasText: 'Kept' }).waitFor();
      const last = tab.locator('.exchange').last();
      await last.locator('.check input').check();
      await last.locator('button', { hasText: 'Make it an eval case' }).click();
      const added = tab.locator('[role=status]', { hasText: 'confirmed by' });
      await added.waitFor();
      const [, id = ''] = /^Case (\S+) in evals\/chat\.yaml/.exec(await added.innerText()) ?? [];
      const file = readFileSync(join(project.dir, 'evals/chat.yaml'), 'utf8');
      const { cases } = setSchema.parse(load(file));
      // The question before it is part of what was asked.
      expect(cases.find((listed) => listed.id === id)).toMatchObject({
        turns: [{ question: 'By region?' }, { question: 'I mean orders.recipient.region.' }],
        confirmed_by: expect.stringMatching(/./),
      });
      expect(await axeViolations(tab)).toEqual([]);
      if (shots !== undefined) {
        mkdirSync(shots, { recursive: true });
        const name = `asked-${look.width}-${look.scheme}.png`;
        await tab.screenshot({ path: join(shots, name), fullPage: true });
      }
      expect(problems).toEqual([]);
    },
  );

  test('a run of evals has its cases, what was wrong, and the same without context', async () => {
    await using own = await startPage(project.dir);
    const { page: tab, problems } = await openPage(own, { width: 1280, scheme: 'light' });
    await goTo(tab, '#/evals');
    const listed = await tab.locator('main').innerText();
    expect(listed).toMatch(/\$1\.500|\$1\.5/);
    await goTo(tab, '#/evals/run_1');
    await tab.locator('.turn').first().waitFor();
    const text = await tab.locator('main').innerText();
    expect(text).toContain('flaky');
    expect(text).toContain('1 rows instead of 2');
    expect(text).toContain('without context: fail');
    expect(await tab.locator('.matrix tbody tr').count()).toBe(2);
    expect(await tab.locator('.matrix thead').innerText()).toMatch(/without/i);
    await tab.locator('button', { hasText: 'Compare the rows' }).first().click();
    const diff = tab.locator('.row-diff');
    await diff.waitFor();
    expect(await diff.locator('figcaption').innerText()).toBe(
      '0 rows as expected, 1 different, 1 missing. Where a cell differs: expected → got.',
    );
    expect(await diff.locator('.row-different').innerText()).toMatch(/1,?800\s.*1,?801/s);
    expect(await diff.locator('.row-missing').innerText()).toContain('refunded');
    expect(await axeViolations(tab)).toEqual([]);
    if (shots !== undefined)
      await tab.screenshot({ path: join(shots, 'evals-run.png'), fullPage: true });
    expect(problems).toEqual([]);
  });
});

const setSchema = z.object({ cases: z.array(z.looseObject({ id: z.string() })) });

const turn = {
  question: 'What is revenue?',
  answer: 'It is 4.',
  outcome: 'fail' as const,
  stop_reason: 'completed',
  findings: [{ grader: 'result', outcome: 'fail' as const, found: '1 rows instead of 2' }],
  queries: [
    {
      id: 'q1',
      tool: 'run_sql',
      sql: "SELECT status, SUM(amount) + 1 AS total FROM orders WHERE status = 'paid' GROUP BY 1",
      metrics: [],
      rows: 1,
      truncated: false,
    },
  ],
  golden_sql: 'SELECT status, SUM(amount) AS revenue FROM orders GROUP BY 1',
  tools: [],
  tokens: 1,
  cost_usd: 0.75,
  ms: 1,
};
const wrong = {
  id: 'set/revenue',
  tags: [],
  outcome: 'fail' as const,
  flaky: true,
  attempts: [{ outcome: 'fail' as const, turns: [turn] }],
};
const right = { ...wrong, id: 'set/count', outcome: 'pass' as const, flaky: false };
const evalRun = {
  version: 1 as const,
  id: 'run_1',
  started: '2026-01-01T00:00:00.000Z',
  ms: 1,
  ktx: '0.1.0',
  interrupted: false,
  context: { uncommitted: [], semantic_layer: '', wiki: '', questions: '', agents: [] },
  cases: [wrong, right],
  without_context: [{ ...wrong, flaky: false }],
};
