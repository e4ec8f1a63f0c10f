import { UserError } from '../../../src/lib/error.ts';
import { modelFor } from '../../../src/semantic/access.ts';
import type { SemanticModel } from '../../../src/semantic/model.ts';
import { dialectNamed } from '../../../src/sql/dialects.ts';
import { compile, load } from '../shop.ts';
import { filesOf, scriptOf } from './model-files.ts';
import type { Query } from './query-text.ts';
import { openRunner, type Runner, type runnerNames } from './runner.ts';
import type { Cell, World } from './world.ts';

/** What the rules refuse; any other error is a fault. */
const refusals = [
  'no_path',
  'ambiguous_path',
  'not_supported',
  'no_period',
  'no_group',
  'unused_scope',
  'unused_segment',
  'mixed_condition',
];

export interface Engine {
  readonly name: (typeof runnerNames)[number];
  /** Makes the tables anew; gives the model as the reader sees it. */
  open(world: World): Promise<SemanticModel>;
  readonly runner: Runner;
}

export interface Answer {
  readonly rows: readonly (readonly unknown[])[];
  /** Of each metric, whether the receipt says that its groups add up. */
  readonly additive: readonly boolean[];
}

export async function openEngine(name: (typeof runnerNames)[number]): Promise<Engine> {
  const dialect = dialectNamed(name);
  const runner = await openRunner(name);
  const open = async (world: World): Promise<SemanticModel> => {
    const { model, diagnostics } = await load(filesOf(world), dialect);
    if (diagnostics.length > 0) throw new Error(JSON.stringify(diagnostics));
    await runner.run(scriptOf(world, (value: Cell) => dialect.literal(value)));
    return modelFor(model, 'reader');
  };
  return { name, open, runner };
}

/** Undefined where the planner refuses. */
export async function ask({ runner }: Engine, model: SemanticModel, query: Query): Promise<Answer | undefined> {
  let compiled: ReturnType<typeof compile>;
  try {
    compiled = compile(model, query);
  } catch (error) {
    if (error instanceof UserError && refusals.includes(error.code)) return undefined;
    throw error;
  }
  return { rows: await runner.rows(compiled.sql), additive: compiled.receipt.metrics.map(({ additive }) => additive) };
}

/** Rows as text, in their order; six digits are compared. */
export function textOf(rows: readonly (readonly unknown[])[]): readonly string[] {
  const plain = (cell: unknown): unknown => {
    if (cell === null || (typeof cell === 'string' && !/^-?\d+(\.\d+)?(e-?\d+)?$/.test(cell))) return cell;
    return Math.round(Number(cell) * 1e6) / 1e6 + 0;
  };
  return rows.map((row) => JSON.stringify(row.map(plain)));
}
