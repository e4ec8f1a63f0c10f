import { UserError } from '../../lib/error.ts';
import { formatCount } from '../../lib/format-count.ts';
import { findVisibleField, metricAddress, type SemanticModel } from '../model/model.ts';
import { visibleMetrics } from '../model/visible-metrics.ts';
import { queryError, unknownNameError } from '../query/errors.ts';

interface KnownMetrics {
  readonly model: SemanticModel;
  readonly queryMetrics: ReadonlyMap<string, unknown>;
}

/** The error for a name that is not a metric, with what can be written in its place. */
export function unknownMetricError(known: KnownMetrics, parts: readonly string[]): UserError {
  const { model, queryMetrics } = known;
  const name = parts.join('.');
  const [first = '', second = ''] = parts;
  const dataset = parts.length === 2 ? model.datasets.get(first) : undefined;
  const field = dataset && findVisibleField(dataset, second);
  if (field !== undefined) return fieldInsteadOfMetric(name, field.type);
  if (parts.length > 1 && model.excluded.has(first)) {
    return new UserError(
      'unknown_name',
      `There is no metric named ${name}: the file of ${first} has errors`,
      {
        hint: 'Run ktx sl validate to see them.',
        exitCode: 2,
        details: { name, choices: [] },
      },
    );
  }
  const { addresses, byName } = visibleMetrics(model);
  if (parts.length > 1) return unknownNameError({ what: 'metric', name, candidates: addresses });
  // A bare name will do unless several datasets have a metric of that name.
  const as = (candidate: string) => {
    const namesakes = queryMetrics.has(candidate) ? [] : (byName.get(candidate) ?? []);
    return namesakes.length > 1 ? namesakes.map(metricAddress) : [candidate];
  };
  const candidates = [...queryMetrics.keys(), ...byName.keys()];
  return unknownNameError({ what: 'metric', name, candidates, as, note: noteMissing(model) });
}

/** The metric may be one of a file that could not be read. */
function noteMissing({ excluded }: SemanticModel): string {
  if (excluded.size === 0) return '';
  const files = formatCount(excluded.size, 'dataset file');
  return `, and the metrics of ${files} with errors are missing (ktx sl validate)`;
}

function fieldInsteadOfMetric(name: string, type: string | undefined): UserError {
  const isNumber = type === 'integer' || type === 'decimal';
  const numberChoices = isNumber ? [`sum(${name})`, `avg(${name})`] : [];
  return queryError('unknown_name', `${name} is a field, not a metric`, {
    hint: 'Or ask for it as a dimension.',
    choices: [...numberChoices, `count(distinct ${name})`],
  });
}

/** The addresses of all visible fields of that name: `orders.status`. */
export function fieldAddressesNamed(model: SemanticModel, name: string): readonly string[] {
  return [...model.datasets.values()].flatMap((dataset) => {
    const field = findVisibleField(dataset, name);
    return field === undefined ? [] : [`${dataset.name}.${field.name}`];
  });
}
