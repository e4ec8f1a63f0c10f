import type { ModelMetric } from '../../semantic/model/model.ts';

/** The names and SQL that a metric is made of. */
export function metricTexts({ definition, where, balance }: ModelMetric): readonly string[] {
  // The word of an aggregate, like `count`, is no metric of that name.
  const parts = Object.entries(definition).flatMap(([key, part]: [string, unknown]) =>
    key === 'kind' || key === 'function' ? [] : [part],
  );
  const texts = [...parts, where, balance?.over].map((part: unknown) => {
    if (typeof part === 'string') return part;
    return part instanceof Object && 'text' in part ? String(part.text) : '';
  });
  return texts.filter((text) => text !== '');
}

/** The name as a whole word, also behind a path of roles or before a grain. */
export function namePattern(name: string): RegExp {
  return new RegExp(`(?<![\\w])${RegExp.escape(name)}(?![\\w])`);
}
