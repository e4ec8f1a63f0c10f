import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { renderHtmlReport } from '../../src/eval/report/html-report.ts';
import type { EvalOutcome } from '../../src/eval/run/outcome.ts';
import type { CaseResult, EvalRun } from '../../src/eval/run/run-schema.ts';
import { chromium, type Page, withPage } from '../support/browser.ts';

/** Every fifth fails, and every seventh is an error. */
const size = Number(process.env['KTX_EVAL_CASES'] ?? 300);
const outcomeOf = (index: number): EvalOutcome =>
  index % 5 === 0 ? 'fail' : index % 7 === 0 ? 'error' : 'pass';

const evil = `</pre></script><script>document.title = 'ran'</script><img src=x onerror="document.title = 'ran'">`;

function caseAt(index: number): CaseResult {
  const outcome = outcomeOf(index);
  const own = index === 3 ? evil : '';
  const turn = {
    question: `Question ${index}? ${own}`,
    outcome,
    answer: `The total is ${7000 + index} [q1]. ${own}`,
    stop_reason: 'completed',
    findings: [{ grader: 'result', outcome, found: `12 rows instead of 10 ${own}` }],
    queries: [
      {
        id: 'q1',
        tool: 'run_sql',
        sql: `SELECT sum(amount) AS total_${index} FROM orders -- ${own}`,
        metrics: [],
        rows: 12,
        truncated: false,
      },
    ],
    tools: [],
    tokens: 100,
    cost_usd: 0.01,
    ms: 1000,
  };
  return {
    id: `set/case-${index}${own}`,
    tags: [index % 2 === 0 ? 'simple' : 'challenging'],
    agent: 'ktx',
    outcome,
    flaky: false,
    attempts: [{ outcome, turns: [turn] }],
  };
}

const run: EvalRun = {
  version: 1,
  id: '20260101T000000Z-a',
  started: '2026-01-02T00:00:00Z',
  ms: 1,
  ktx: '0',
  interrupted: false,
  context: {
    uncommitted: [],
    semantic_layer: 'a',
    wiki: 'b',
    questions: 'c',
    agents: [{ name: 'ktx', hash: 'h', backend: 'anthropic', model: `m ${evil}` }],
  },
  cases: Array.from({ length: size }, (_, index) => caseAt(index)),
};

let folder: string;
let address: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'ktx-report-'));
  const path = join(folder, 'eval.html');
  const history = [1, 2, 3].map((day) => ({
    ...run,
    id: `2025120${day}T000000Z-a`,
    started: `2025-12-0${day}T00:00:00Z`,
  }));
  writeFileSync(path, renderHtmlReport({ run, history, comparison: undefined }));
  address = pathToFileURL(path).href;
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** How many cases are to be seen: in the matrix, in the answers, and as the page says. */
async function shown({ evaluate }: Page): Promise<readonly unknown[]> {
  const visible = (of: string) =>
    `document.querySelectorAll('${of}[data-case]:not([hidden])').length`;
  return [
    await evaluate(visible('tr')),
    await evaluate(visible('details')),
    await evaluate(`document.getElementById('shown').textContent`),
  ];
}

const counted = (count: number) => [count, count, `${count} of ${size}`];
const countOf = (isOne: (index: number) => boolean): number =>
  Array.from({ length: size }, (_, index) => index).filter(isOne).length;

async function press({ send }: Page, key: string, text?: string): Promise<void> {
  const code = { key, ...(text !== undefined && { text }) };
  await send('Input.dispatchKeyEvent', { type: 'keyDown', ...code });
  await send('Input.dispatchKeyEvent', { type: 'keyUp', key });
}

test('a trend joins only runs of the same questions', () => {
  const few = { ...run, cases: [caseAt(1)] };
  const other = (questions: string) => ({ ...few, context: { ...run.context, questions } });
  const page = (history: readonly EvalRun[]) =>
    renderHtmlReport({ run: few, history, comparison: undefined });
  expect(page([other('d'), other('e')])).toContain('One run of these questions so far');
  expect(page([other('d'), { ...few, id: '20251201T000000Z-a' }])).toContain(
    'accuracy of the last 2 runs',
  );
});

describe.skipIf(chromium === undefined)('the page of a run in Chromium', () => {
  test('is searched and filtered with the keyboard alone', async () => {
    await withPage(address, async (page) => {
      const { evaluate, send } = page;
      expect(await shown(page)).toEqual(counted(size));
      await press(page, '/', '/');
      expect(await evaluate('document.activeElement.id')).toBe('search');
      await send('Input.insertText', { text: 'total_77 ORDERS' });
      await expect
        .poll(() => shown(page))
        .toEqual(counted(countOf((index) => String(index).startsWith('77'))));
      await press(page, 'Escape');
      await expect.poll(() => shown(page)).toEqual(counted(size));
      await press(page, 'Tab');
      const box = 'document.activeElement.value';
      while ((await evaluate(box)) !== 'fail') await press(page, 'Tab');
      await press(page, ' ', ' ');
      const fails = counted(countOf((index) => outcomeOf(index) === 'fail'));
      await expect.poll(() => shown(page)).toEqual(fails);
      await evaluate(
        `tag.value = 'simple'; tag.dispatchEvent(new Event('change', { bubbles: true }))`,
      );
      const both = countOf((index) => outcomeOf(index) === 'fail' && index % 2 === 0);
      await expect.poll(() => shown(page)).toEqual(counted(both));
      await evaluate('document.activeElement.blur()');
      const focused = `document.activeElement.closest('details')?.dataset.case`;
      const places = [];
      for (const key of ['j', 'j', 'k']) {
        await press(page, key, key);
        places.push(await evaluate(focused));
      }
      expect(places).toEqual(['0', '10', '0']);
      await press(page, 'Enter', '\r');
      expect(await evaluate(`document.getElementById('case-0').open`)).toBe(true);
    });
  });

  test('shows what models and servers wrote as text, and asks for nothing', async () => {
    await withPage(address, async ({ evaluate, requests, console: said }) => {
      await evaluate(
        `for (const answer of document.querySelectorAll('details')) answer.open = true`,
      );
      expect([requests, said]).toEqual([[address], []]);
      expect(await evaluate('document.title')).toBe('ktx eval 2026-01-02');
      expect(await evaluate('document.querySelectorAll("img, script").length')).toBe(1);
      const own = await evaluate(`document.getElementById('case-3').textContent`);
      expect(String(own).split(evil)).toHaveLength(7);
    });
  });

  test('fits a telephone, in the light and in the dark', async () => {
    await withPage(address, async ({ evaluate, send }) => {
      const seen = [];
      for (const [width, value] of [
        [1280, 'light'],
        [390, 'dark'],
        [320, 'light'],
        [500, 'dark'],
      ] as const) {
        await send('Emulation.setDeviceMetricsOverride', {
          width,
          height: 844,
          deviceScaleFactor: 1,
          mobile: width < 600,
        });
        await send('Emulation.setEmulatedMedia', {
          features: [{ name: 'prefers-color-scheme', value }],
        });
        seen.push([
          await evaluate('document.documentElement.scrollWidth <= innerWidth'),
          // Nothing of the groups is beyond the edge, where nobody sees that there is more.
          await evaluate(`document.querySelector('.wide').scrollWidth <= innerWidth`),
          await evaluate('getComputedStyle(document.body).backgroundColor'),
        ]);
      }
      expect(seen).toEqual([
        [true, true, 'rgb(255, 255, 255)'],
        [true, true, 'rgb(21, 25, 31)'],
        [true, true, 'rgb(255, 255, 255)'],
        [true, true, 'rgb(21, 25, 31)'],
      ]);
    });
  });
});
