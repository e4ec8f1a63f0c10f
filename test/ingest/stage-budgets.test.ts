import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasSlowCases } from '../slow-suites.ts';
import { type ModelCall, type Script } from '../support/model-script.ts';
import { reading, readingAsked } from '../support/reading-model.ts';
import { isCurating, isReconciling } from '../support/ruling-model.ts';
import { read, run, write } from '../store/git-project.ts';
import { sql } from './ingest-project.ts';
import {
  artifactsOf,
  backendsOfRun,
  documentedShop,
  ingestCommand,
  openMachine,
  type ModelMachine,
} from './llm-project.ts';

let machine: ModelMachine;
beforeAll(async () => {
  machine = await openMachine();
});
afterAll(() => machine.close());

/** At $3 and $15 per million tokens, which both backends reckon with. */
const paid = { input: 12_000, output: 600, cacheRead: 0, cacheWrite: 0 };
const turnUsd = 0.045;
const free = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
const model = 'claude-sonnet-4-6';
const prices = `  prices: {${model}: {input: 3, output: 15}}\n`;

const stages = {
  describe: (call: ModelCall) =>
    call.messages.some(({ text }) => /^The (\d+ )?tables? to describe:/.test(text)),
  extract: (call: ModelCall) => readingAsked(call)?.stage === 'extract',
  curate: isCurating,
  reconcile: isReconciling,
} as const;
type Stage = keyof typeof stages;

const metric = (formula: string) =>
  `| Metric | Definition | Formula |\n|---|---|---|\n| Revenue | In words. | \`${formula}\` |\n`;
const documents = {
  'a.md': metric("sum(orders.amount) where status = 'paid'"),
  'b.md': metric('sum(orders.amount)'),
  'terms.md': '# Words\n\nAn active customer means one with an order in the last ninety days.\n',
  'numbers.md': '# Numbers\n\nThe turnover is the sum of amount in orders.\n',
};

/** Tables of which each gets a call of its own, because of what somebody wrote into them. */
function addWordyTables(dir: string): void {
  for (let n = 0; n < 8; n += 1)
    sql(
      dir,
      `CREATE TABLE notes_${n} (id INTEGER PRIMARY KEY, kind TEXT);
       WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40)
         INSERT INTO notes_${n} SELECT i, CASE i % 2 WHEN 0 THEN 'goods that came back broken' ELSE 'goods that never arrived at all' END FROM n`,
    );
}

interface Played {
  readonly code: number | null;
  readonly data: Readonly<Record<string, unknown>>;
  /** US dollars, as the run reports them. */
  readonly spent: number;
  /** Requests of the stage that the endpoint answered. */
  readonly turns: number;
}

async function play(dir: string, stage: Stage, budget?: number): Promise<Played> {
  let turns = 0;
  const script: Script = async (call) => {
    const answer = await reading(call);
    const isPaid = stages[stage](call);
    if (isPaid) turns += 1;
    return answer.kind === 'reply' ? { ...answer, usage: isPaid ? paid : free } : answer;
  };
  machine.endpoint.fallback = script;
  const args = ['ingest', ...(budget === undefined ? [] : ['--budget', String(budget)])];
  const { code, data, events } = await ingestCommand(machine, dir, { args });
  const usage = events.findLast(({ type }) => type === 'llm_usage');
  return { code, data, spent: Number(usage?.['cost_usd'] ?? 0), turns };
}

function projectOf(backend: string): string {
  const dir = documentedShop(machine, backend, { ...documents, settings: prices });
  // The alias `sonnet` means a model of another price with newer programs.
  write(dir, 'ktx.yaml', read(dir, 'ktx.yaml').replace('default: sonnet', `default: ${model}`));
  run(dir, 'commit', '-qam', 'one model', '--allow-empty');
  addWordyTables(dir);
  return dir;
}

/** What is found first stands first in a page, so only the lines are compared. */
const linesOf = (files: Readonly<Record<string, string>>) =>
  Object.entries(files).map(([path, text]) => [path, text.split('\n').sort()]);

const budgets = [0.02, 0.05, 0.12, 1] as const;

describe.each(backendsOfRun)('the budget of an ingest on %s', { timeout: 600_000 }, (backend) => {
  test.each(Object.keys(stages) as Stage[])('holds while it is spent by %s', async (stage) => {
    const undisturbed = projectOf(backend);
    const whole = await play(undisturbed, stage);
    expect(whole.code, JSON.stringify(whole.data)).toBe(0);
    for (const budget of hasSlowCases ? budgets : budgets.slice(1, 2)) {
      const dir = projectOf(backend);
      const played = await play(dir, stage, budget);
      expect(played.spent).toBeCloseTo(played.turns * turnUsd);
      expect(played.spent).toBeLessThanOrEqual(budget + turnUsd + 1e-9);
      const isCut = played.code !== 0;
      if (isCut) {
        expect(played.code).toBe(3);
        expect(JSON.stringify(played.data)).toContain('llm_budget_spent');
        expect(JSON.stringify(played.data)).toContain('that --budget allows');
        expect(played.spent).toBeGreaterThanOrEqual(budget);
      } else expect(played.turns).toBe(whole.turns);
      if (!isCut) continue;
      const next = await play(dir, stage);
      expect(next.code).toBe(0);
      expect(linesOf(artifactsOf(dir))).toEqual(linesOf(artifactsOf(undisturbed)));
      // Tables that are described are not asked about again.
      if (stage === 'describe') expect(played.turns + next.turns).toBe(whole.turns);
    }
  });
});
