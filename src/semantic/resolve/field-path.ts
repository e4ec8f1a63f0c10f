import type { TruncateOptions } from '../../sql/dialect.ts';
import type { ColumnReference } from '../../sql/column-references.ts';
import {
  type DerivedPeriod,
  derivedPeriodName,
  findDerivedPeriod,
} from '../model/derived-period.ts';
import { type Grain, grains, yearStartFor } from '../model/grains.ts';
import {
  findField,
  findVisibleField,
  isCaseExact,
  type ModelDataset,
  type ModelField,
  type SemanticModel,
} from '../model/model.ts';
import { queryError, unknownDatasetError, unknownNameError } from '../query/errors.ts';
import {
  checkPathShape,
  findUniquePath,
  followPathNames,
  formatPath,
  type JoinPath,
  reachableFieldsNamed,
  type Reach,
  timeFieldNames,
} from './join-paths.ts';

/** What a dotted name means: a field, and the path of joins to it. */
export interface ResolvedField {
  /** Empty for a field of the owner. */
  readonly path: JoinPath;
  /** The dataset at the end of the path. */
  readonly dataset: ModelDataset;
  readonly name: string;
  /** Undefined if `name` is a physical column without a field. Only dataset files can use one. */
  readonly field: ModelField | undefined;
  readonly grain: Grain | undefined;
  /** What is made of the start of the period of `grain`. */
  readonly derived?: DerivedPeriod | undefined;
}

/**
 * Where names are resolved from: the dataset whose rows a query aggregates, and which steps a path
 * may take.
 */
export interface PathStart {
  readonly model: SemanticModel;
  readonly owner: ModelDataset;
  readonly reach: Reach;
  /** The field that `metric_time` stands for; undefined: the default time of the owner. */
  readonly time?: string | undefined;
}

/**
 * Resolves a name of a query: `dataset.field`, `dataset.role.field`, `role.field` or `metric_time`,
 * each with or without a grain at the end. Does not find hidden fields. Throws a `UserError` with
 * choices.
 */
export function resolveQueryField(start: PathStart, names: readonly string[]): ResolvedField {
  const conformed = fieldsOfConformed(start.model, names);
  if (conformed !== undefined) return resolveConformed(start, conformed, names.join('.'));
  const called = periodInCall(names.join('.'));
  if (called !== undefined)
    throw queryError('unknown_name', `${names.join('.')} is no name of a field`, {
      choices: [called],
    });
  const { owner } = start;
  const [first = ''] = names;
  const isMetricTime = first === 'metric_time';
  const parts = isMetricTime
    ? [owner.name, start.time ?? requireDefaultTime(owner), ...names.slice(1)]
    : names;
  const key = parts.length === 1 ? findEntityKey(owner, first) : undefined;
  if (key !== undefined)
    return { path: [], dataset: owner, name: key.name, field: key, grain: undefined };
  if (parts.length < 2) {
    throw queryError('unknown_name', `The name ${first} is unknown`, {
      hint: `Write a field as dataset.field, and a text in single quotes: '${first}'.`,
      choices: reachableFieldsNamed(start.model, owner.name, first),
    });
  }
  const period = parts.length < 3 ? undefined : findPeriod(start, parts.at(-1) ?? '');
  const timeField = period === undefined ? undefined : resolveDottedName(start, parts.slice(0, -1));
  if (timeField?.field !== undefined) return checkGrain({ ...timeField, ...period }, start);
  const resolved = resolveDottedName(start, parts);
  if (resolved.field !== undefined) return resolved;
  throw unknownFieldError(resolved, parts);
}

/** As databases write a period: `month(orders.at)`, `date_trunc('month', orders.at)`. */
const periodCall = /^(\w+)\(\s*(?:'?(\w+)'?\s*,\s*)?(\w+(?:\.\w+)*)\s*(?:,\s*'?(\w+)'?\s*)?\)$/u;

/** The name that such a call means: `orders.at.month`. */
function periodInCall(text: string): string | undefined {
  const [, name = '', before = '', field = '', after = ''] = periodCall.exec(text) ?? [];
  const words = [before, after, name].map((word) => word.toLowerCase());
  const period = words.find((word) => grains.some((grain) => grain === word));
  return period === undefined ? undefined : `${field}.${period}`;
}

/**
 * The field of a dataset that says which one of an entity its row belongs to: the key of its own
 * entity, or the column by which it joins the role of that name. Undefined unless there is one.
 */
function findEntityKey(owner: ModelDataset, name: string): ModelField | undefined {
  const ownKey = owner.entity === name ? owner.primaryKey : undefined;
  const joined = owner.toOne
    .filter((step) => step.name === name)
    .map(({ legs: [leg, ...others] }) => {
      const [pair, ...more] = leg?.relationship.equal ?? [];
      const isPlain = others.length === 0 && more.length === 0 && leg?.reversed === false;
      return isPlain && leg.relationship.condition === undefined ? pair?.own : undefined;
    });
  const [column, ...others] = new Set(ownKey ?? joined);
  if (column === undefined || others.length > 0) return undefined;
  return findVisibleField(owner, column);
}

/** The grain of a name. A custom period of a time spine counts before a grain of the same name. */
function findPeriod(
  { model }: PathStart,
  name: string,
): Pick<ResolvedField, 'grain' | 'derived'> | undefined {
  const derived = findDerivedPeriod(model, name);
  if (derived !== undefined) return derived;
  const grain = grains.find((candidate) => candidate === name);
  return grain && { grain };
}

/** Between the names of one dimension for several datasets. */
const sameAs = ' = ';
const dottedName = /^[\p{L}_][\p{L}\p{N}_]*(?:\.[\p{L}_][\p{L}\p{N}_]*)+$/u;

/** The fields of a conformed dimension, written or declared; undefined for another name. */
function fieldsOfConformed(
  { datasets }: SemanticModel,
  names: readonly string[],
): readonly string[] | undefined {
  const whole = names.join('.');
  if (whole.includes(sameAs)) return whole.split(sameAs);
  const [home = '', name = '', ...grain] = names;
  const declared = datasets.get(home)?.conformed.get(name);
  return declared?.fields.map((field) => [field, ...grain].join('.'));
}

/**
 * `orders.buyer.segment = tickets.customers.segment`, or a declared name of that: the field that
 * begins with the owner. Throws if none does, or if one of them cannot be a name.
 */
function resolveConformed(
  start: PathStart,
  fields: readonly string[],
  text: string,
): ResolvedField {
  const { name: owner, entity } = start.owner;
  const alternatives = fields.map((name) => name.trim());
  const misfit = alternatives.find((name) => !dottedName.test(name));
  if (misfit !== undefined)
    throw queryError('no_path', `${misfit} is not the name of a dimension`, {
      hint: `Write one dimension for each dataset, with ${sameAs.trim()} between them.`,
      choices: [],
    });
  const own = alternatives.find((name) => {
    const [first] = name.split('.');
    return first === owner || (entity !== undefined && first === entity);
  });
  if (own !== undefined) return resolveQueryField(start, own.split('.'));
  const [home = '', name = ''] = text.split('.');
  const declared = text.includes(sameAs) ? undefined : start.model.datasets.get(home);
  throw queryError('no_path', `The dimension ${text} says nothing of ${owner}`, {
    hint:
      declared === undefined
        ? `Add its name for ${owner}, behind another ${sameAs.trim()}.`
        : `Add the field of ${owner} to ${name} under conformed_dimensions in ${declared.file}.`,
    choices: [],
  });
}

function unknownFieldError({ dataset, name }: ResolvedField, parts: readonly string[]) {
  const candidates = [...dataset.fields.values()]
    .filter((field) => !field.hidden)
    .map((field) => field.name)
    .concat(parts.length === 2 && parts[0] === dataset.name ? [...dataset.conformed.keys()] : []);
  const note = dataset.metrics.has(name) ? ' (there is a metric of that name)' : '';
  const as = (candidate: string) => [[...parts.slice(0, -1), candidate].join('.')];
  // As other tools write a period: `placed_at__month`, `placed_at:month`.
  const [, time = '', period = ''] = /^(.+?)(?:__|[:@])([a-z]+)$/.exec(name) ?? [];
  const isPeriod = grains.some((grain) => grain === period) && candidates.includes(time);
  if (isPeriod)
    return queryError('unknown_name', `There is no field of ${dataset.name} named ${name}`, {
      choices: as(`${time}.${period}`),
    });
  return unknownNameError({ what: `field of ${dataset.name}`, name, candidates, note, as });
}

/**
 * Resolves a name in the SQL of the dataset file of `home`. Unlike `resolveQueryField`, it finds
 * bare names, hidden fields and physical columns, and does not accept grains.
 */
export function resolveModelField(
  start: PathStart,
  home: string,
  { parts, written }: ColumnReference,
): ResolvedField {
  const { model, owner, reach } = start;
  const name = parts.at(-1) ?? '';
  const isHomeField = parts.length === 1 || (parts.length === 2 && parts[0] === home);
  const isOwnerField = parts.length === 2 && parts[0] === owner.name;
  const pathToHome = isOwnerField
    ? []
    : findUniquePath(model, owner.name, { name: home, field: name, reach });
  const pathFromHome =
    isHomeField || isOwnerField
      ? []
      : resolveDottedName({ model, owner: requireDataset(model, home), reach }, parts).path;
  const path = [...pathToHome, ...pathFromHome];
  checkPathShape(path, name);
  const dataset = datasetAtEnd(start, path);
  const field = findField(dataset, name, isCaseExact(model.dialect, written));
  return { path, dataset, name, field, grain: undefined };
}

/**
 * Resolves a dataset or role, any further roles, and a last name. If that is no visible field,
 * `field` is undefined.
 */
function resolveDottedName(start: PathStart, parts: readonly string[]): ResolvedField {
  const { model, owner, reach } = start;
  const [first = '', ...roles] = parts.slice(0, -1);
  const name = parts.at(-1) ?? '';
  const rest = [...roles, name];
  const toFirst = findUniquePath(model, owner.name, { name: first, field: rest.join('.'), reach });
  const dataset = toFirst.at(-1)?.to ?? owner.name;
  const path = [...toFirst, ...followPathNames(model, { dataset, reach }, rest)];
  checkPathShape(path, name);
  const end = datasetAtEnd(start, path);
  return { path, dataset: end, name, field: findVisibleField(end, name), grain: undefined };
}

function datasetAtEnd({ model, owner }: PathStart, path: JoinPath): ModelDataset {
  return requireDataset(model, path.at(-1)?.to ?? owner.name);
}

/** The name of the field in every query with the same owner: `orders.buyer.name`. */
export function formatFieldPath({ path, dataset, name, grain, derived }: ResolvedField): string {
  const start = path.length === 0 ? dataset.name : formatPath(path);
  const period = derived === undefined ? grain : derivedPeriodName(derived);
  return [start, name, ...(period === undefined ? [] : [period])].join('.');
}

function checkGrain(resolved: ResolvedField, { model }: PathStart): ResolvedField {
  const { dataset, name, field, derived } = resolved;
  const grain = derived === undefined ? resolved.grain : derivedPeriodName(derived);
  yearStartFor(dataset, [resolved.grain]);
  if (timeTypeOf(resolved) !== undefined) return resolved;
  const times = timeFieldNames(dataset).map((time) => formatFieldPath({ ...resolved, name: time }));
  throw queryError(
    'not_a_time',
    `${dataset.name}.${name} has no ${grain}: it is not a time field (${field?.type ?? 'no type'})`,
    {
      hint: declareTime(resolved, model.dialect),
      choices: [formatFieldPath({ ...resolved, grain: undefined, derived: undefined }), ...times],
    },
  );
}

/** To truncate a text, an engine has to read it as a time first, unless its times are texts. */
function declareTime(
  { name, field, dataset: { file } }: ResolvedField,
  { statistics }: SemanticModel['dialect'],
): string {
  if (field?.type !== 'string')
    return `Or declare type: date, datetime or datetime_tz for it in ${file}.`;
  const column = field.expr?.text ?? name;
  return statistics?.timesInText === undefined
    ? `Or, if its texts are dates, give it type: date and expr: CAST(${column} AS DATE) in ${file}.`
    : `Or, if its texts are dates like 2024-03-15, give it type: date in ${file}. For 15.03.2024 add expr: substr(${column}, 7) || '-' || substr(${column}, 4, 2) || '-' || substr(${column}, 1, 2).`;
}

/** The type of a time field; undefined for any other field. */
export function timeTypeOf({ field }: ResolvedField): TruncateOptions['type'] | undefined {
  const type = field?.type;
  return type === 'date' || type === 'datetime' || type === 'datetime_tz' ? type : undefined;
}

function requireDefaultTime(dataset: ModelDataset): string {
  const { name, file, defaultTime } = dataset;
  if (defaultTime !== undefined) return defaultTime;
  throw queryError(
    'no_default_time',
    `${name} has no default_time, so its metrics have no metric_time`,
    {
      hint: `Or declare default_time in ${file}.`,
      choices: timeFieldNames(dataset).map((time) => `${name}.${time}`),
    },
  );
}

/** The dataset of that name; throws `unknown_name` if there is none. */
export function requireDataset(model: SemanticModel, name: string): ModelDataset {
  const dataset = model.datasets.get(name);
  if (dataset === undefined) throw unknownDatasetError(model, name);
  return dataset;
}
