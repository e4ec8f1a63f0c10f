import type { TableRef } from '../../sql/dialect.ts';
import { splitTableName } from '../../semantic/model/dataset.ts';
import { parseDatasetFile } from '../merge/merge-dataset.ts';
import { isList, isMapping, type YamlFileContent } from '../merge/yaml-text.ts';

/** What people wrote about a column: `pii: yes` or `pii: no`, and `values: off`. */
export interface ColumnLabel {
  /** Undefined if they wrote nothing about it. */
  readonly pii: boolean | undefined;
  readonly valuesOff: boolean;
}

/** The labels that the dataset files of a project give to columns. */
export interface ColumnLabels {
  of(connection: string, table: TableRef, column: string): ColumnLabel;
  /** True if a label keeps back values of some column of the table. */
  closes(connection: string, table: TableRef): boolean;
}

interface LabeledFile {
  readonly connection: string;
  /** In lower case, what the file's table may be called; `table` decides. */
  readonly tableNames: readonly string[];
  readonly table: (table: TableRef) => boolean;
  /** True if the file can mean no other table. Only then its `pii: no` counts. */
  readonly isExact: (table: TableRef) => boolean;
  readonly whole: ColumnLabel;
  /** By column, in lower case. */
  readonly columns: ReadonlyMap<string, ColumnLabel>;
}

const unlabeled: ColumnLabel = { pii: undefined, valuesOff: false };
export const noLabels: ColumnLabels = { of: () => unlabeled, closes: () => false };

const datasetPath = /^semantic-layer\/([^/]+)\/([^/]+)\.ya?ml$/;

/**
 * Reads the labels of dataset files, given by their paths. A file that has errors elsewhere still
 * has its labels. Of a file that is no YAML at all nobody knows what it says: if it mentions
 * labels, or cannot be read, no values of its table are kept or sent.
 */
export function readColumnLabels(files: Iterable<readonly [path: string, text: string]>) {
  const labeled = [...files].flatMap(([path, text]) => readLabeledFile(path, text) ?? []);
  const named = labeled.flatMap((file) => file.tableNames.map((name) => ({ name, file })));
  const byTable = Map.groupBy(named, ({ name, file }) => `${file.connection}\n${name}`);
  const filesOf = (connection: string, table: TableRef) =>
    namesOf(table)
      .flatMap((name) => byTable.get(`${connection}\n${name}`) ?? [])
      .flatMap(({ file }) => (file.table(table) ? [file] : []));
  const labels: ColumnLabels = {
    of: (connection, table, column) =>
      strictest(
        filesOf(connection, table).map((file) => labelOf(file, column, file.isExact(table))),
      ),
    closes: (connection, table) =>
      filesOf(connection, table).some(({ whole, columns }) =>
        [whole, ...columns.values()].some(isClosing),
      ),
  };
  return labels;
}

export const isClosing = ({ pii, valuesOff }: ColumnLabel): boolean => pii === true || valuesOff;

function readLabeledFile(path: string, text: string): LabeledFile | undefined {
  const [, connection, name = ''] = datasetPath.exec(path) ?? [];
  const mayLabel = !text.isWellFormed() || /\b(?:pii|values)\b/.test(text);
  if (connection === undefined || !mayLabel) return undefined;
  const parsed = parseDatasetFile(text);
  if (!('mapping' in parsed))
    return {
      connection,
      tableNames: [name.toLowerCase()],
      table: (table) => namesOf(table).includes(name.toLowerCase()),
      isExact: () => false,
      whole: { pii: undefined, valuesOff: true },
      columns: new Map(),
    };
  const { mapping } = parsed;
  const parts = typeof mapping['source'] === 'string' ? splitTableName(mapping['source']) : [];
  const source = (parts ?? []).map((part) => part.toLowerCase());
  return {
    connection,
    tableNames: source.slice(-1),
    table: ({ catalog, schema, table }) =>
      source.length > 0 &&
      source.every((part, index) => {
        const named = [catalog, schema, table].slice(-source.length)[index];
        return named === undefined || named.toLowerCase() === part;
      }),
    isExact: ({ catalog, schema }) =>
      source.length >= (catalog !== undefined ? 3 : schema === '' ? 1 : 2),
    whole: readLabel(mapping),
    columns: labelsOfColumns(mapping),
  };
}

/** What a dataset on the table would be called, in lower case. */
function namesOf({ catalog, schema, table }: TableRef): readonly string[] {
  const names = [table, `${schema}__${table}`];
  const inCatalog = catalog === undefined ? [] : names.map((name) => `${catalog}__${name}`);
  return [...names, ...inCatalog].map((name) => name.toLowerCase());
}

/**
 * A spelling that means neither is an error for `ktx sl validate`; until then it keeps values back.
 */
export function readLabel(keys: {
  readonly pii?: unknown;
  readonly values?: unknown;
}): ColumnLabel {
  const { pii, values } = keys;
  const isFree = pii === false || /^(?:no|false|off|n)$/i.test(String(pii));
  return {
    pii: pii === undefined || pii === null ? undefined : !isFree,
    valuesOff: values !== undefined && values !== null && !Array.isArray(values),
  };
}

function labelOf({ whole, columns }: LabeledFile, column: string, isExact: boolean): ColumnLabel {
  const own = columns.get(column.toLowerCase()) ?? unlabeled;
  const isPersonal = own.pii === true || whole.pii === true ? true : undefined;
  return {
    pii: isExact ? (own.pii ?? whole.pii) : isPersonal,
    valuesOff: own.valuesOff || whole.valuesOff,
  };
}

function strictest(labels: readonly ColumnLabel[]): ColumnLabel {
  const words = labels.map(({ pii }) => pii).filter((pii) => pii !== undefined);
  return {
    pii: words.length === 0 ? undefined : words.includes(true),
    valuesOff: labels.some(({ valuesOff }) => valuesOff),
  };
}

interface LabeledField {
  readonly name: string;
  readonly text: string;
  readonly label: ColumnLabel;
}

/**
 * A closing label counts for every column that the field is computed from; `pii: no` only for the
 * column that the field is.
 */
function labelsOfColumns(mapping: YamlFileContent): ReadonlyMap<string, ColumnLabel> {
  const list = mapping['fields'];
  const fields = (isList(list) ? list : []).filter(isMapping).map((field): LabeledField => {
    const { name, expr = name } = field;
    const texts = (isMapping(expr) ? Object.values(expr) : [expr]).map(textOf);
    return { name: textOf(name).toLowerCase(), text: texts.join(' '), label: readLabel(field) };
  });
  const byName = new Map(fields.map((field) => [field.name, field]));
  const found = fields.flatMap(({ name, text, label }) => {
    const words = namesIn(text);
    if (isClosing(label))
      return [...reachedNames([name, ...words], byName)].map((column) => ({ column, label }));
    const [column = ''] = words;
    return label.pii === false && isOneName(text) ? [{ column, label }] : [];
  });
  return new Map(
    [...Map.groupBy(found, ({ column }) => column)].map(([column, all]) => [
      column,
      strictest(all.map(({ label }) => label)),
    ]),
  );
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** The names, and those in the expressions of the fields that they name. */
function reachedNames(
  names: readonly string[],
  byName: ReadonlyMap<string, LabeledField>,
): ReadonlySet<string> {
  const reached = new Set<string>();
  const open = [...names];
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (reached.has(name)) continue;
    reached.add(name);
    open.push(...namesIn(byName.get(name)?.text ?? ''));
  }
  return reached;
}

const namePattern = /'[^']*'|"([^"]+)"|`([^`]+)`|\[([^\]]+)\]|([\p{L}_][\p{L}\p{M}\p{N}_$]*)/gu;

/** Everything in an expression that can be the name of a column, in lower case. */
function namesIn(text: string): string[] {
  return [...text.matchAll(namePattern)].flatMap((match) => {
    const name = match.slice(1).find((group) => group !== undefined);
    return name === undefined ? [] : [name.toLowerCase()];
  });
}

const isOneName = (text: string): boolean =>
  text.replace(namePattern, '').trim() === '' && namesIn(text).length === 1;
