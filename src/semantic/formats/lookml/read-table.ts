import type { Dialect } from '../../../sql/dialect.ts';
import type { Dataset } from '../../model/dataset.ts';
import { resolveLiquid, type LiquidParameter } from './liquid.ts';
import { blocksWithKey, type LookmlBlock, textProperty } from './parse.ts';
import type { AddLookmlFault } from './read.ts';
import { nativeSource } from './native-table.ts';
import { UnreadableLookml } from './unreadable-lookml.ts';

export interface LookmlTableContext {
  readonly views: ReadonlyMap<string, LookmlBlock>;
  readonly parameters: ReadonlyMap<string, LiquidParameter>;
  readonly addFault: AddLookmlFault;
  readonly dialect: Dialect;
}

/** The table or query of a view. Neither, with a note, where ktx cannot tell it. */
export function readTable(
  view: LookmlBlock,
  context: LookmlTableContext,
): Pick<Dataset, 'source' | 'sql'> {
  // Its query is read once the other views are.
  if (nativeSource(view) !== undefined) return {};
  try {
    return tableOf(view, context, []);
  } catch (error) {
    if (!(error instanceof UnreadableLookml)) throw error;
    const message = `its table cannot be read, ${error.message}: set source or sql in the dataset file`;
    context.addFault(`view ${view.name}`, message, view.place);
    return {};
  }
}

/** Views that read views; people have three or four. */
const longestChain = 30;

function tableOf(
  view: LookmlBlock,
  context: LookmlTableContext,
  path: readonly string[],
): Pick<Dataset, 'source' | 'sql'> {
  if (path.includes(view.name) || path.length > longestChain)
    throw new UnreadableLookml('its query reads itself');
  const [derived] = blocksWithKey(view.value, 'derived_table');
  const sql = derived === undefined ? undefined : textProperty(derived, 'sql');
  if (derived !== undefined && sql === undefined)
    throw new UnreadableLookml('it is built by Looker');
  const written = sql ?? textProperty(view, 'sql_table_name') ?? view.name;
  const resolved = resolveText(written, { ...context, view, path: [...path, view.name] });
  return sql === undefined ? { source: resolved.replaceAll('`', '') } : { sql: resolved };
}

/** In characters. A query that repeats others grows with each of them. */
const longestQuery = 200_000;

function resolveText(
  written: string,
  {
    view,
    path,
    ...context
  }: LookmlTableContext & { readonly view: LookmlBlock; readonly path: readonly string[] },
): string {
  const own = [...context.parameters].map(([name, parameter]) =>
    name.startsWith(`${view.name}.`) ? ([parameter.name, parameter] as const) : undefined,
  );
  const parameters = new Map([
    ...context.parameters,
    ...own.filter((entry) => entry !== undefined),
  ]);
  const addNote = (note: string) =>
    context.addFault(`view ${view.name}`, `its table: ${note}`, view.place);
  const plain = resolveLiquid(written, { parameters, addNote, dialect: context.dialect });
  const text = plain.replaceAll(
    /\$\{\s*(\w+)\.(?:SQL_TABLE_NAME|sql_table_name)\s*\}/g,
    (_, name: string) => {
      const other = context.views.get(name);
      if (other === undefined) throw new UnreadableLookml(`there is no view ${name}`);
      const { source, sql } = tableOf(other, context, path);
      return source ?? `(${sql})`;
    },
  );
  if (text.length > longestQuery) throw new UnreadableLookml('its query is too long');
  const odd = /[$@]\{[^}]{0,60}\}?/.exec(text)?.[0];
  if (odd !== undefined) throw new UnreadableLookml(`it uses ${odd}`);
  return text.trim();
}
