import { UserError } from '../../lib/error.ts';
import { queryError, unknownNameError } from '../query/errors.ts';
import { metricAddress, type SemanticModel, findVisibleField } from '../model/model.ts';

/** A name that should be that of a metric, and what can be written in its place. */
export function unknownMetricError(
  {
    model,
    queryMetrics,
  }: { readonly model: SemanticModel; readonly queryMetrics: ReadonlyMap<string, unknown> },
  parts: readonly string[],
): UserError {
  const name = parts.join('.');
  const [first = '', second = ''] = parts;
  const dataset = parts.length === 2 ? model.datasets.get(first) : undefined;
  if (dataset !== undefined && findVisibleField(dataset, second) !== undefined) {
    const isNumber = ['integer', 'decimal'].includes(findVisibleField(dataset, second)?.type ?? '');
    const choices = [
      ...(isNumber ? [`sum(${name})`, `avg(${name})`] : []),
      `count(distinct ${name})`,
    ];
    return queryError('unknown_name', `${name} is a field, not a metric`, {
      hint: 'Or ask for it as a dimension.',
      choices,
    });
  }
  const metrics = [...model.datasets.values()].flatMap((it) =>
    [...it.metrics.values()].filter((metric) => !metric.hidden),
  );
  if (parts.length > 1 && model.excluded.has(first)) {
    const hint = 'ktx sl validate says what is wrong there.';
    return new UserError(
      'unknown_name',
      `There is no metric named ${name}: the file of ${first} has errors`,
      {
        hint,
        exitCode: 2,
        details: { name, choices: [] },
      },
    );
  }
  if (parts.length > 1)
    return unknownNameError({ what: 'metric', name, candidates: metrics.map(metricAddress) });
  // Bare where that is enough.
  const byName = Map.groupBy(metrics, (metric) => metric.name);
  const as = (candidate: string) => {
    const own = queryMetrics.has(candidate) ? [] : (byName.get(candidate) ?? []);
    return own.length > 1 ? own.map(metricAddress) : [candidate];
  };
  return unknownNameError({
    what: 'metric',
    name,
    candidates: [...queryMetrics.keys(), ...byName.keys()],
    as,
  });
}

/** As they can be aggregated. */
export function fieldAddressesNamed(model: SemanticModel, name: string): readonly string[] {
  return [...model.datasets.values()].flatMap((dataset) => {
    const field = findVisibleField(dataset, name);
    return field === undefined ? [] : [`${dataset.name}.${field.name}`];
  });
}
