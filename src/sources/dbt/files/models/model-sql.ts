import type { Item } from '../../../source.ts';
import type { DbtProject } from '../../dbt-project.ts';
import { type JinjaValue, jinjaTags, parseJinjaCall, renderTemplate } from '../jinja.ts';
import { type ProjectFiles, resolveText } from '../project-files.ts';

/** What the `{{ config(…) }}` calls in a model's own file set to literals. */
export function readInlineConfig(body: string): Readonly<Record<string, JinjaValue>> {
  const calls = jinjaTags(body).flatMap(({ kind, inside }) =>
    kind === 'expression' ? (parseJinjaCall(inside) ?? []) : [],
  );
  return Object.fromEntries(
    calls.flatMap(({ name, named }) => (name === 'config' ? [...named] : [])),
  );
}

export interface ModelSql {
  /** SQL with tables in place of `ref` and `source`. */
  readonly text: string;
  /** Calls of `ref` and `source` that refer to nothing in the project, each once. */
  readonly unknown: readonly string[];
}

/** Resolves what code can; macros, conditions and loops stay in the text as they are written. */
export function resolveModelSql(
  { body }: Item,
  files: ProjectFiles,
  relations: DbtProject['relations'],
): ModelSql {
  const { text, unresolved } = renderTemplate(resolveText(files, body).text, (call) => {
    if (call.name === 'config') return '';
    const relation = relations.get(files.references.idOfCall(call) ?? '');
    return relation && [...relation.schemas.slice(0, 1), relation.table].join('.');
  });
  const unknown = unresolved.filter((written) => /^(ref|source)\s*\(/.test(written));
  return { text: text.trim(), unknown: [...new Set(unknown)] };
}

/**
 * Whether a query decides something that a model should read: it filters, aggregates, or
 * distinguishes cases. Plain selections say nothing beyond their columns.
 */
export function needsReading(sql: string): boolean {
  return /\b(where|having|case|group\s+by|qualify|distinct|over\s*\()/i.test(
    sql.replaceAll(/--.*$/gm, ''),
  );
}
