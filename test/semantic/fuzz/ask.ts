import { UserError } from '../../../src/lib/error.ts';
import { modelForRole } from '../../../src/semantic/resolve/row-rules.ts';
import type { SemanticModel } from '../../../src/semantic/model/model.ts';
import { findDialect } from '../../../src/sql/dialects.ts';
import { compile, load } from '../shop.ts';
import { filesOf, rowsScript, tablesScript } from './model-files.ts';
import type { Query } from './query-text.ts';
import { openRunner, type Runner, type RunnerName } from './runner.ts';
import type { Cell, World } from './world.ts';

export interface Engine {
  readonly name: RunnerName;
  /** Replaces the rows, and returns the model for the role `reader`. */
  open(world: World): Promise<SemanticModel>;
  readonly runner: Runner;
}

interface Answer {
  readonly rows: readonly (readonly unknown[])[];
  /** For each metric, whether the receipt says that its groups add up. */
  readonly additive: readonly boolean[];
}

export async function openEngine(name: RunnerName): Promise<Engine> {
  const dialect = findDialect(name);
  const runner = await openRunner(name);
  await runner.run(tablesScript(name));
  const open = async (world: World): Promise<SemanticModel> => {
    const { model, diagnostics } = await load(filesOf(world), dialect);
    if (diagnostics.length > 0) throw new Error(JSON.stringify(diagnostics));
    await runner.run(rowsScript(world, name, (value: Cell) => dialect.literal(value)));
    return modelForRole(model, 'reader');
  };
  return { name, open, runner };
}

/** In place of a code: the engine, or its dialect, said that it has no such statement. */
export const refusedByEngine = 'refused by the engine';

/** The rows, or the code of the planner's error. Throws any other error: it is a defect. */
export async function ask(
  { runner }: Engine,
  model: SemanticModel,
  query: Query,
): Promise<Answer | { readonly refused: string }> {
  let compiled: ReturnType<typeof compile>;
  try {
    compiled = compile(model, query);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    const isOfEngine = error.message.startsWith('There is no SQL for clickhouse');
    return { refused: isOfEngine ? refusedByEngine : error.code };
  }
  const rows = await runner.rows(compiled.sql).catch((error: unknown) => {
    if (runner.lacks?.(error) === true) return undefined;
    throw error;
  });
  if (rows === undefined) return { refused: refusedByEngine };
  return {
    rows,
    additive: compiled.receipt.metrics.map(({ additive }) => additive),
  };
}

/** Like `ask`, for a query that must have an answer. */
export async function requireAnswer(
  engine: Engine,
  model: SemanticModel,
  query: Query,
): Promise<Answer> {
  const given = await ask(engine, model, query);
  if ('refused' in given) throw new Error(`${given.refused} for ${JSON.stringify(query)}`);
  return given;
}

/** Rows as text, in their order; six digits are compared. */
export function rowTexts(rows: readonly (readonly unknown[])[]): readonly string[] {
  const plain = (cell: unknown): unknown => {
    if (cell === null || (typeof cell === 'string' && !/^-?\d+(\.\d+)?(e-?\d+)?$/.test(cell)))
      return cell;
    return Math.round(Number(cell) * 1e6) / 1e6 + 0;
  };
  return rows.map((row) => JSON.stringify(row.map(plain)));
}
