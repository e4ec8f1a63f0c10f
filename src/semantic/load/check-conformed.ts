import { UserError } from '../../lib/error.ts';
import { didYouMean } from '../../lib/suggest.ts';
import type { ModelDataset, SemanticModel } from '../model/model.ts';
import { resolveQueryField } from '../resolve/field-path.ts';
import { typeFamilyOf } from '../resolve/join-checks.ts';
import type { DatasetCheck, YamlPath } from './dataset-check.ts';

/** Reports conformed dimensions whose fields do not resolve, or cannot be one dimension. */
export function checkConformed(model: SemanticModel, check: DatasetCheck): void {
  for (const [index, { name, fields }] of (check.yaml.conformed_dimensions ?? []).entries()) {
    const path = ['conformed_dimensions', index, 'fields'];
    const { toOne = [], toMany = [] } = model.datasets.get(check.dataset.name) ?? {};
    const steps = [...toOne, ...toMany];
    if (steps.some((step) => step.name === name))
      check.fail(['conformed_dimensions', index, 'name'], 'duplicate', {
        message: `${name} is also the name of a join of ${check.dataset.name}`,
        hint: 'Rename the dimension.',
      });
    const types = fields.map((field, position) =>
      checkField(model, check, { field, path: [...path, position] }),
    );
    const starts = fields.map((field) => field.split('.')[0] ?? '');
    const twice = starts.find((start, position) => starts.indexOf(start) < position);
    if (twice !== undefined)
      check.fail(path, 'duplicate', {
        message: `${name} has two fields for the rows of ${twice}`,
        hint: 'Keep one, or declare two conformed dimensions.',
      });
    const families = new Set(types.flatMap((type) => typeFamilyOf(type) ?? []));
    if (families.size > 1)
      check.fail(path, 'type', {
        message: `The fields of ${name} have different types: ${[...families].join(', ')}`,
        hint: 'Name fields of one type, or give one of them an expr that converts it.',
      });
  }
}

/** The type of the field; undefined if it is not known, or if the field does not resolve. */
function checkField(
  model: SemanticModel,
  { fail, warn }: DatasetCheck,
  { field, path }: { readonly field: string; readonly path: YamlPath },
): string | undefined {
  const names = field.split('.');
  const [start = ''] = names;
  const owner = model.datasets.get(start);
  if (owner !== undefined) return typeFrom(model, { owner, names, path }, fail);
  if (model.excluded.has(start))
    warn(path, 'left_out', `${start} was left out because of its errors, so ${field} is too`);
  else
    fail(path, 'unknown_name', {
      message: `${field} does not begin with a dataset`,
      hint:
        didYouMean(start, model.datasets.keys()) ??
        'Write dataset.field, or the path from a dataset.',
    });
  return undefined;
}

function typeFrom(
  model: SemanticModel,
  place: { readonly owner: ModelDataset; readonly names: readonly string[]; path: YamlPath },
  fail: DatasetCheck['fail'],
): string | undefined {
  const { owner, names, path } = place;
  if (owner.conformed.has(names[1] ?? '')) {
    fail(path, 'conformed', {
      message: `${names.join('.')} is a conformed dimension itself`,
      hint: 'Name the fields that it stands for.',
    });
    return undefined;
  }
  try {
    return resolveQueryField({ model, owner, reach: 'many' }, names).field?.type;
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    fail(path, error.code, error);
    return undefined;
  }
}
