import type { LookerExplore, LookerField, LookerJoin } from './api-schemas.ts';

interface ViewDraft {
  table: string | undefined;
  readonly dimensions: Map<string, LookerField>;
  readonly measures: Map<string, LookerField>;
}

/**
 * The explores of one model as LookML, so that one reader reads both. What the API does not show,
 * like the SQL of a field that the login may not see, is not in it. Sorted, so that equal explores
 * give equal text.
 */
export function writeLookml(explores: readonly LookerExplore[]): string {
  const sorted = explores.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const views = new Map<string, ViewDraft>();
  for (const explore of sorted) draftViews(explore, views);
  const viewTexts = [...views]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, view]) => viewText(name, view));
  return [...viewTexts, ...sorted.map(exploreText)].filter((text) => text !== '').join('\n');
}

/** Collects the fields of an explore under the views that define them. */
function draftViews(explore: LookerExplore, views: Map<string, ViewDraft>): void {
  const { fields, joins } = explore;
  const base = explore.view_name ?? explore.name;
  const joined = new Map((joins ?? []).map((join) => [join.name, join]));
  setTable(draftOf(base, views), explore.sql_table_name);
  for (const { name, from, sql_table_name: table } of joined.values())
    setTable(draftOf(from ?? name, views), table);
  const add = (field: LookerField, part: 'dimensions' | 'measures') => {
    const [scope = '', name = ''] = field.name.split('.');
    const alias = scope === explore.name ? base : (joined.get(scope)?.from ?? scope);
    const own = draftOf(field.original_view ?? alias, views)[part];
    if (isName(name) && !own.has(name)) own.set(name, field);
  };
  for (const field of fields?.dimensions ?? []) add(field, 'dimensions');
  for (const field of fields?.measures ?? []) add(field, 'measures');
}

function draftOf(name: string, views: Map<string, ViewDraft>): ViewDraft {
  const known = views.get(name);
  if (known !== undefined) return known;
  const draft = { table: undefined, dimensions: new Map(), measures: new Map() };
  if (isName(name)) views.set(name, draft);
  return draft;
}

function setTable(view: ViewDraft, table: string | null | undefined): void {
  view.table ??= table?.trim() || undefined;
}

function isName(name: string): boolean {
  return /^\w{1,200}$/.test(name);
}

function viewText(name: string, { table, dimensions, measures }: ViewDraft): string {
  const groups = Map.groupBy(
    [...dimensions].filter(([, { dimension_group: group }]) => group),
    ([, { dimension_group: group }]) => group ?? '',
  );
  const plain = [...dimensions].filter(([, { dimension_group: group }]) => !group);
  const parts = [
    ...sortByName(plain).map(([field, own]) => memberText('dimension', field, own)),
    ...[...groups].map(([group, members]) => groupText(group, members)),
    ...sortByName([...measures]).map(([field, own]) => memberText('measure', field, own)),
  ];
  // A view without a table of its own has the table of its name.
  const source = table === undefined ? [] : sqlLine('sql_table_name', table);
  return block('view', name, [...source, ...parts.filter((part) => part !== '')]);
}

function sortByName<T>(entries: readonly (readonly [string, T])[]) {
  return entries.toSorted(([a], [b]) => (a < b ? -1 : 1));
}

const countTypes = new Set(['count', 'yesno']);
const unwrittenSql = 'its SQL cannot be written as LookML';

/** A comment, so that the coverage of an ingest has what is missing. */
function leftOutLine(kind: string, name: string, reason: string): string {
  return `# left out: ${kind} ${name}: ${reason}`;
}

/** What a line of `writeLookml` says that it leaves out; undefined for any other line. */
export function leftOutOf(line: string): string | undefined {
  return /^\s*# left out: (.*)$/.exec(line)?.[1];
}

/** Only a note for a field whose SQL the login may not see: nobody knows what it means. */
function memberText(kind: 'dimension' | 'measure', name: string, field: LookerField): string {
  const { type, sql } = field;
  if (field.error) return leftOutLine(kind, name, 'Looker reports an error in it');
  const hasSql = typeof sql === 'string' && sql.trim() !== '';
  if (!hasSql && !countTypes.has(type ?? ''))
    return leftOutLine(kind, name, 'this login does not see its SQL');
  const filters = (field.filters ?? []).flatMap(({ field: filtered, condition }) =>
    filtered ? [`${filtered.split('.').at(-1) ?? ''}: ${quoted(condition ?? '')}`] : [],
  );
  const source = hasSql ? sqlLine('sql', sql) : [];
  if (hasSql && source.length === 0) return leftOutLine(kind, name, unwrittenSql);
  return block(kind, name, [
    `type: ${wordOf(type, 'string')}`,
    ...source,
    ...(filters.length === 0 ? [] : [`filters: [${filters.join(', ')}]`]),
    ...(field.primary_key === true ? ['primary_key: yes'] : []),
    ...(field.hidden === true ? ['hidden: yes'] : []),
    ...textLines(field),
  ]);
}

/** `created_date` and `created_month` are one dimension group with two timeframes. */
function groupText(group: string, members: readonly (readonly [string, LookerField])[]): string {
  const name = group.split('.').at(-1) ?? '';
  const [first] = members;
  const sql = first?.[1].sql;
  if (!isName(name)) return '';
  if (typeof sql !== 'string' || sql.trim() === '')
    return leftOutLine('dimension_group', name, 'this login does not see its SQL');
  const timeframes = members.flatMap(([field]) =>
    field.startsWith(`${name}_`) ? [field.slice(name.length + 1)] : [],
  );
  const source = sqlLine('sql', sql);
  if (source.length === 0 || timeframes.length === 0)
    return leftOutLine('dimension_group', name, unwrittenSql);
  const words = timeframes.sort().join(', ');
  return block('dimension_group', name, ['type: time', `timeframes: [${words}]`, ...source]);
}

function textLines({ label_short: label, description, value_format_name: format }: LookerField) {
  return [
    ...(label ? [`label: ${quoted(label)}`] : []),
    ...(description ? [`description: ${quoted(description)}`] : []),
    ...(format && isName(format) ? [`value_format_name: ${format}`] : []),
  ];
}

function exploreText(explore: LookerExplore): string {
  if (!isName(explore.name)) return '';
  const { view_name: view, joins, access_filters: filters } = explore;
  const from = view && view !== explore.name && isName(view) ? [`from: ${view}`] : [];
  return block('explore', explore.name, [
    ...from,
    ...(explore.description ? [`description: ${quoted(explore.description)}`] : []),
    ...(filters ?? []).flatMap(({ field, user_attribute: attribute }) =>
      field && attribute && /^[\w.]+$/.test(field) && isName(attribute)
        ? [`access_filter: { field: ${field} user_attribute: ${attribute} }`]
        : [],
    ),
    ...defaultFilterLines('always_filter', explore.always_filter),
    ...defaultFilterLines('conditionally_filter', explore.conditionally_filter),
    ...((explore.always_join ?? []).some(isName)
      ? [`always_join: [${(explore.always_join ?? []).filter(isName).join(', ')}]`]
      : []),
    ...(joins ?? []).filter(({ name }) => isName(name)).map(joinText),
  ]);
}

/** The API does not show for which fields of a query a filter does not count. */
function defaultFilterLines(key: string, filters: LookerExplore['always_filter']): string[] {
  const pairs = (filters ?? []).flatMap(({ name, value }) =>
    name && /^[\w.]+$/.test(name) ? [`${name}: ${quoted(value ?? '')}`] : [],
  );
  return pairs.length === 0 ? [] : [`${key}: { filters: [${pairs.join(', ')}] }`];
}

function joinText(join: LookerJoin): string {
  const { name, from, type, relationship, sql_on: on, foreign_key: key } = join;
  return block('join', name, [
    ...(from && isName(from) ? [`from: ${from}`] : []),
    ...(type ? [`type: ${wordOf(type, 'left_outer')}`] : []),
    ...(relationship ? [`relationship: ${wordOf(relationship, 'many_to_one')}`] : []),
    ...(on ? sqlLine('sql_on', on) : []),
    ...(key && /^[\w.]+$/.test(key) ? [`foreign_key: ${key}`] : []),
  ]);
}

function wordOf(text: string | null | undefined, otherwise: string): string {
  return text && isName(text) ? text : otherwise;
}

/** SQL that could end its own value is left out. */
function sqlLine(key: string, sql: string): string[] {
  const flat = sql.trim();
  return flat.includes(';;') ? [] : [`${key}: ${flat.replaceAll(/\s*\n\s*/g, ' ')} ;;`];
}

function quoted(text: string): string {
  const flat = text.replaceAll(/\s+/g, ' ').trim();
  return `"${flat.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}

function block(kind: string, name: string, lines: readonly string[]): string {
  const inner = lines.flatMap((line) => line.split('\n')).map((line) => `  ${line}`);
  return `${kind}: ${name} {\n${inner.join('\n')}\n}\n`;
}
