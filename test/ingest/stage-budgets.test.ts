import { cpSync, mkdtempSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasSlowCases } from '../slow-suites.ts';
import { fail, type ModelCall, type Script } from '../support/model-script.ts';
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
    call.messages.some(({ text }) => /^The (\d+ )?tables? to describe:/m.test(text)),
  extract: (call: ModelCall) => readingAsked(call)?.stage === 'extract',
  curate: isCurating,
  reconcile: isReconciling,
} as const;
type Stage = keyof typeof stages;
const stageNames = Object.keys(stages) as readonly Stage[];

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
  /** Requests that the endpoint answered and charged. */
  readonly turns: ReadonlyMap<Stage, number>;
}

/** What the model charges in one run. */
interface Charged {
  /** Its turns cost money, the others nothing. */
  readonly stages: readonly Stage[];
  /** The account has no credit for this stage: the run ends before it. */
  readonly refused?: Stage;
  readonly budget?: number;
}

async function play(
  on: ModelMachine,
  dir: string,
  { stages: charged, refused, budget }: Charged,
): Promise<Played> {
  const turns = new Map<Stage, number>();
  const script: Script = async (call) => {
    const stage = stageNames.find((name) => stages[name](call));
    if (stage !== undefined && stage === refused) return fail('credit-low');
    const answer = await reading(call);
    if (answer.kind !== 'reply') return answer;
    const isPaid = stage !== undefined && charged.includes(stage);
    if (isPaid) turns.set(stage, (turns.get(stage) ?? 0) + 1);
    return { ...answer, usage: isPaid ? paid : free };
  };
  on.endpoint.fallback = script;
  const args = ['ingest', ...(budget === undefined ? [] : ['--budget', String(budget)])];
  const { code, data, events } = await ingestCommand(on, dir, { args });
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

const copyOf = (dir: string): string => {
  const copy = realpathSync(mkdtempSync(join(tmpdir(), 'ktx-stage-')));
  cpSync(dir, copy, { recursive: true, preserveTimestamps: true });
  return copy;
};

/** Of a project in which every stage was paid for, and of those in which one stage comes next. */
interface Prepared {
  readonly whole: Played;
  readonly artifacts: Readonly<Record<string, string>>;
  readonly before: ReadonlyMap<Stage, string>;
}

/** A run with a budget that covers all stages, and one that stops before each stage. */
async function prepare(backend: string): Promise<Prepared> {
  const undisturbed = projectOf(backend);
  let dir = copyOf(undisturbed);
  const before = new Map<Stage, string>([['describe', copyOf(dir)]]);
  for (const stage of stageNames.slice(1)) {
    const { code, data } = await play(machine, dir, { stages: [], refused: stage });
    expect(code, JSON.stringify(data)).toBe(4);
    before.set(stage, dir);
    dir = copyOf(dir);
  }
  const whole = await play(machine, undisturbed, { stages: stageNames, budget: largest });
  return { whole, artifacts: artifactsOf(undisturbed), before };
}

const largest = 1;
const small = [0.02, 0.05, 0.12] as const;

describe.each(backendsOfRun)('the budget of an ingest on %s', (backend) => {
  let prepared: Prepared;
  beforeAll(async () => {
    prepared = await prepare(backend);
  });

  test(`covers all stages with $${largest}`, () => {
    const { whole } = prepared;
    expect(whole.code, JSON.stringify(whole.data)).toBe(0);
    expect([...whole.turns.keys()].toSorted()).toEqual(stageNames.toSorted());
    expect(whole.spent).toBeCloseTo(turnsOf(whole) * turnUsd);
    expect(whole.spent).toBeLessThanOrEqual(largest);
  });

  // The endpoint of an API stands in the project, so its runs take turns.
  describe('holds', { concurrent: backend === 'claude-code' }, () => {
    test.each(stageNames)('while it is spent by %s, and the next run goes on', async (stage) => {
      const own = backend === 'claude-code' ? await openMachine() : undefined;
      try {
        await spendOn(stage, { prepared, machine: own ?? machine });
      } finally {
        await own?.close();
      }
    });
  });
});

const turnsOf = ({ turns }: Played): number => turns.values().reduce((sum, n) => sum + n, 0);

interface Spending {
  readonly prepared: Prepared;
  readonly machine: ModelMachine;
}

/**
 * Tries each budget where the stage comes next. After a run that it has cut, the next one goes on
 * with the next budget, and the last one without a limit.
 */
async function spendOn(stage: Stage, { prepared, machine: own }: Spending): Promise<void> {
  const { whole, artifacts, before } = prepared;
  const start = before.get(stage) ?? '';
  const wholeTurns = whole.turns.get(stage);
  const played: Played[] = [];
  let dir = copyOf(start);
  let cuts = 0;
  for (const budget of hasSlowCases ? small : small.slice(1, 2)) {
    const tried = await play(own, dir, { stages: [stage], budget });
    played.push(tried);
    expect(tried.spent).toBeCloseTo(turnsOf(tried) * turnUsd);
    expect(tried.spent).toBeLessThanOrEqual(budget + turnUsd + 1e-9);
    if (tried.code === 0) {
      // The budget covers what was left of the stage, and the next one is tried from its start.
      expect(linesOf(artifactsOf(dir))).toEqual(linesOf(artifacts));
      if (played.length === 1) expect(turnsOf(tried)).toBe(wholeTurns);
      played.length = 0;
      dir = copyOf(start);
      continue;
    }
    cuts += 1;
    expect(tried.code).toBe(3);
    expect(JSON.stringify(tried.data)).toContain('llm_budget_spent');
    expect(JSON.stringify(tried.data)).toContain('that --budget allows');
    expect(tried.spent).toBeGreaterThanOrEqual(budget);
  }
  expect(cuts).toBeGreaterThan(0);
  if (played.length === 0) return;
  const last = await play(own, dir, { stages: [stage] });
  expect(last.code, JSON.stringify(last.data)).toBe(0);
  expect(linesOf(artifactsOf(dir))).toEqual(linesOf(artifacts));
  // Tables that are described are not asked about again.
  const turns = [...played, last].reduce((sum, tried) => sum + turnsOf(tried), 0);
  if (stage === 'describe') expect(turns).toBe(wholeTurns);
}
