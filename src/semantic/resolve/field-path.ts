import type { TruncateOptions } from '../../sql/dialect.ts';
import type { ColumnReference } from '../../sql/fragment.ts';
import { queryError, unknownDatasetError, unknownNameError } from '../query/errors.ts';
import {
  findField,
  findVisibleField,
  isCaseExact,
  type ModelDataset,
  type ModelField,
  type SemanticModel,
} from '../model/model.ts';
import {
  checkPathShape,
  formatPath,
  reachableFieldsNamed,
  type JoinPath,
  followPathNames,
  type Reach,
  timeFieldNames,
  findUniquePath,
} from './join-paths.ts';
import { yearStartFor, type Grain, grains } from '../model/grains.ts';

/** Where a name leads from an owner; `field` is undefined for a physical column of model text. */
export interface ResolvedField {
  readonly path: JoinPath;
  readonly dataset: ModelDataset;
  readonly name: string;
  readonly field: ModelField | undefined;
  readonly grain: Grain | undefined;
}

/** Whose rows a name starts from, and whether it may lead to many. */
export interface PathStart {
  readonly model: SemanticModel;
  readonly owner: ModelDataset;
  readonly reach: Reach;
}

/** Resolves `dataset.field`, `dataset.role.field`, `role.field`, `metric_time`, each with a grain or without. Hidden fields do not exist. */
export function resolveQueryField(start: PathStart, asked: readonly string[]): ResolvedField {
  const { owner } = start;
  const [first] = asked;
  const parts =
    first === 'metric_time' ? [owner.name, requireDefaultTime(owner), ...asked.slice(1)] : asked;
  if (parts.length < 2) {
    const choices = reachableFieldsNamed(start.model, owner.name, first ?? '');
    throw queryError('unknown_name', `The name ${first} is unknown on its own`, {
      hint: 'A field is written with its dataset.',
      choices,
    });
  }
  const grain =
    parts.length < 3 ? undefined : grains.find((candidate) => candidate === parts.at(-1));
  const timed = grain === undefined ? undefined : resolveDottedName(start, parts.slice(0, -1));
  if (timed?.field !== undefined) return checkGrain({ ...timed, grain });
  const place = resolveDottedName(start, parts);
  if (place.field !== undefined) return place;
  const { dataset, name } = place;
  const candidates = [...dataset.fields.values()]
    .filter((field) => !field.hidden)
    .map((field) => field.name);
  const note = dataset.metrics.has(name) ? ' (there is a metric of that name)' : '';
  const as = (candidate: string) => [[...parts.slice(0, -1), candidate].join('.')];
  throw unknownNameError({ what: `field of ${dataset.name}`, name, candidates, note, as });
}

/** As `placeInQuery`; model text also knows bare names, hidden fields and physical columns. */
export function resolveModelField(
  start: PathStart,
  home: string,
  { parts, written }: ColumnReference,
): ResolvedField {
  const { model, owner, reach } = start;
  const name = parts.at(-1) ?? '';
  const isOwn = parts.length === 1 || (parts.length === 2 && parts[0] === home);
  const isOwners = parts.length === 2 && parts[0] === owner.name;
  const base = isOwners
    ? []
    : findUniquePath(model, owner.name, { name: home, field: name, reach });
  const inner =
    isOwn || isOwners
      ? []
      : resolveDottedName({ model, owner: requireDataset(model, home), reach }, parts).path;
  const path = [...base, ...inner];
  checkPathShape(path, name);
  const dataset = requireDataset(model, path.at(-1)?.to ?? owner.name);
  return {
    path,
    dataset,
    name,
    field: findField(dataset, name, isCaseExact(model.dialect, written)),
    grain: undefined,
  };
}

/** Where dataset or role, further roles, and a name lead. */
function resolveDottedName(
  { model, owner, reach }: PathStart,
  parts: readonly string[],
): ResolvedField {
  const [first = '', ...rest] = parts.slice(0, -1);
  const name = parts.at(-1) ?? '';
  const start = findUniquePath(model, owner.name, {
    name: first,
    field: [...rest, name].join('.'),
    reach,
  });
  const path = [
    ...start,
    ...followPathNames(model, { dataset: start.at(-1)?.to ?? owner.name, reach }, [...rest, name]),
  ];
  checkPathShape(path, name);
  const dataset = requireDataset(model, path.at(-1)?.to ?? owner.name);
  return { path, dataset, name, field: findVisibleField(dataset, name), grain: undefined };
}

/** As it can be written in any query of its owner. */
export function formatFieldPath({ path, dataset, name, grain }: ResolvedField): string {
  return [
    path.length === 0 ? dataset.name : formatPath(path),
    name,
    ...(grain === undefined ? [] : [grain]),
  ].join('.');
}

function checkGrain(place: ResolvedField): ResolvedField {
  yearStartFor(place.dataset, [place.grain]);
  if (timeTypeOf(place) !== undefined) return place;
  const { dataset, name, field, grain, path } = place;
  const message = `${dataset.name}.${name} has no ${grain}: it is not a time field (${field?.type ?? 'no type'})`;
  const start = path.length === 0 ? dataset.name : formatPath(path);
  const choices = [
    formatFieldPath({ ...place, path, grain: undefined }),
    ...timeFieldNames(dataset).map((time) => `${start}.${time}.${grain}`),
  ];
  throw queryError('not_a_time', message, {
    hint: `Or declare type: date, datetime or datetime_tz for it in ${dataset.file}.`,
    choices,
  });
}

export function timeTypeOf({ field }: ResolvedField): TruncateOptions['type'] | undefined {
  const type = field?.type;
  return type === 'date' || type === 'datetime' || type === 'datetime_tz' ? type : undefined;
}

function requireDefaultTime(dataset: ModelDataset): string {
  const { name, file, defaultTime: field } = dataset;
  if (field !== undefined) return field;
  const message = `${name} has no default_time, so metric_time means nothing for its metrics`;
  const choices = timeFieldNames(dataset).map((time) => `${name}.${time}`);
  throw queryError('no_default_time', message, {
    hint: `Or declare default_time in ${file}.`,
    choices,
  });
}

export function requireDataset(model: SemanticModel, name: string): ModelDataset {
  const dataset = model.datasets.get(name);
  if (dataset === undefined) throw unknownDatasetError(model, name);
  return dataset;
}
