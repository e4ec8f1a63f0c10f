import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseConflicts } from '../../src/context/compile/conflicts.ts';
import { openProject } from '../../src/project/open/open.ts';
import { openToolbox } from '../../src/tools/toolbox.ts';
import { ktx } from '../cli/run-cli.ts';
import { describing } from '../support/describing-model.ts';
import { fail, give, type ModelCall, type Script } from '../support/model-script.ts';
import {
  differ,
  isCurating,
  isReconciling,
  merge,
  place,
  rulingModel,
  same,
  statementToMend,
} from '../support/ruling-model.ts';
import {
  artifactsOf,
  documentedShop,
  ingestCommand,
  openMachine,
  twoBackends,
  type ModelMachine,
} from './llm-project.ts';

let machine: ModelMachine;
/** What an undisturbed run leaves. */
let complete: Record<string, string> = {};
beforeAll(async () => {
  machine = await openMachine();
});
afterAll(() => machine.close());

const terms = (rows: readonly string[]) =>
  `| Term | Definition |\n|---|---|\n${rows.map((row) => `| ${row} |\n`).join('')}`;
const metrics = (formula: string) =>
  `| Metric | Definition | Formula |\n|---|---|---|\n| Revenue | In words. | \`${formula}\` |\n`;

const documents = {
  'a.md': terms([
    'Annual recurring revenue | What contracts bring in every year.',
    'Margin | What is left after costs.',
  ]),
  'b.md': terms([
    'ARR | What contracts bring in every year.',
    'Margin | The rest, once costs are paid.',
  ]),
  'c.md': metrics("sum(orders.amount) where status = 'paid'"),
  'd.md': `${metrics('sum(orders.amount)')}| Paid | What is paid. | \`sum(orders.amuont) where status = 'paid'\` |\n`,
};

/** Mends the misspelled column with what `spelled` says. */
function mending(spelled: string): Script {
  return (call) => {
    const statement = call.objectTaken ? undefined : statementToMend(call);
    return statement
      ? give({ body: JSON.stringify(statement.body).replace('amuont', spelled) })
      : describing(call);
  };
}

const careful = rulingModel(
  {
    candidate: ({ candidate, resembles }) =>
      candidate === 'term:arr'
        ? merge(candidate, resembles[0]?.subject ?? '')
        : place(candidate, 'money'),
    conflict: (conflict) => [
      same(conflict),
      ...(conflict.kind === 'definition' ? [] : [differ(conflict)]),
    ],
  },
  mending('amount'),
);

describe('rulings of a model', () => {
  test('are the same, file for file, whoever answers; steps and usage are those of the endpoint [G6 Q5 M5]', async () => {
    let dir = '';
    const outcomes: Record<string, string>[] = [];
    const steps: unknown[] = [];
    for (const backend of twoBackends) {
      dir = documentedShop(machine, backend, documents);
      let turns = { curate: 0, reconcile: 0 };
      machine.endpoint.fallback = (call) => {
        if (isCurating(call)) turns = { ...turns, curate: turns.curate + 1 };
        if (isReconciling(call)) turns = { ...turns, reconcile: turns.reconcile + 1 };
        return careful(call);
      };
      const { code, events, data } = await ingestCommand(machine, dir);
      expect({ code, data }).toMatchObject({
        code: 0,
        data: {
          stages: [
            { stage: 'curate', done: 2, pending: 0, calls: turns.curate },
            { stage: 'reconcile', done: 2, pending: 0, calls: turns.reconcile },
            { stage: 'repair', done: 1, pending: 0, calls: 1 },
          ],
          mended: [
            { subject: 'metric:shop.orders.paid', from: { of: 'amuont' }, to: { of: 'amount' } },
          ],
          quarantined: [],
        },
      });
      const told = events.filter(({ type }) => type === 'curate_step' || type === 'reconcile_step');
      expect(told.filter(({ type }) => type === 'curate_step')).toHaveLength(turns.curate);
      expect(told.filter(({ type }) => type === 'reconcile_step')).toHaveLength(turns.reconcile);
      steps.push(told);
      outcomes.push(artifactsOf(dir));
      machine.endpoint.fallback = () => fail('bad-request');
      expect(await ingestCommand(machine, dir)).toMatchObject({
        code: 0,
        data: { commit: { none: 'unchanged' }, stages: [] },
      });
    }
    const known = await ktx(['explain', 'term:arr'], { cwd: dir });
    expect(known.stdout).toContain('term:annual_recurring_revenue');
    expect(known.stdout).toMatch(/wiki\/money\.md:\d+/);
    expect(known.stdout).toContain('claim same_as of term:arr term:annual_recurring_revenue');
    expect((await ktx(['review', 'list'], { cwd: dir })).stdout).toContain(
      'They count different orders.',
    );
    const project = await openProject(dir);
    const [reading] = openToolbox(project)
      .tools(AbortSignal.timeout(10_000))
      .filter(({ name }) => name === 'read_context');
    expect((await reading?.execute({ name: 'term:arr' }))?.markdown).toContain(
      'wiki/money.md: one section.',
    );
    await project.close();
    complete = outcomes[0] ?? {};
    for (const other of outcomes) expect(other).toEqual(complete);
    for (const other of steps) expect(other).toEqual(steps[0]);
    expect(outcomes[0]?.['wiki/money.md']).toContain('Also: ARR.');
    expect(outcomes[0]?.['wiki/glossary.md']).toContain('## Margin');
    expect(outcomes[0]?.['semantic-layer/shop/orders.yaml']).toContain(
      'name: paid, agg: sum, of: amount',
    );
    const conflicts = parseConflicts(outcomes[0]?.['conflicts.yaml']);
    expect(conflicts.map(({ subject }) => subject)).toEqual(['metric:shop.orders.revenue']);
    expect(outcomes[0]?.['claims/shop/orders.jsonl']).toContain('"kind":"contradiction"');
  });

  test.each([
    [
      'reconciliation',
      (call: ModelCall) =>
        isReconciling(call) && call.results.some(({ text }) => text.includes('You are done')),
    ],
    ['a repair', (call: ModelCall) => statementToMend(call) !== undefined],
  ])(
    'that were made when a run was killed in %s hold, and are not asked for again',
    async (_, isLast) => {
      const dir = documentedShop(machine, 'anthropic', documents);
      const { promise: started, resolve: start } = Promise.withResolvers<() => void>();
      machine.endpoint.fallback = async (call) => {
        if (!isLast(call)) return careful(call);
        (await started)();
        return fail('server-error');
      };
      expect(
        await ingestCommand(machine, dir, { onStart: (kill) => start(() => kill('SIGKILL')) }),
      ).toMatchObject({ code: null });
      const asked: ModelCall[] = [];
      machine.endpoint.fallback = (call) => {
        asked.push(call);
        return careful(call);
      };
      expect(await ingestCommand(machine, dir)).toMatchObject({ code: 0 });
      expect(asked).toHaveLength(1);
      expect(asked.every((call) => statementToMend(call) !== undefined)).toBe(true);
      expect(artifactsOf(dir)).toEqual(complete);
    },
  );
});
