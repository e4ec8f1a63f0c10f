/** The address of a dataset. */
export interface DatasetRef {
  readonly connection: string;
  readonly dataset: string;
}

/** The parts of a subject such as `field:warehouse.orders.status`. */
export interface SubjectParts extends DatasetRef {
  readonly type: (typeof subjectTypes)[number];
  /** The name of a field or a metric; empty for other types. */
  readonly name: string;
  /** The columns of a relationship on its own side; empty for other types. */
  readonly columns: readonly string[];
}

const subjectTypes = ['dataset', 'field', 'metric', 'relationship'] as const;
const subjectPattern =
  /^(?<type>\w+):(?<connection>[^.]+)\.(?<dataset>[^.()]+)(?:\.(?<name>[^.()]+)|\((?<columns>[^()]+)\))?$/;

/** Undefined if the text is not a subject of a warehouse. */
export function parseSubject(subject: string): SubjectParts | undefined {
  const {
    type: typeName,
    connection = '',
    dataset = '',
    name = '',
    columns,
  } = subjectPattern.exec(subject)?.groups ?? {};
  const type = subjectTypes.find((candidate) => candidate === typeName);
  const isComplete =
    (name !== '') === (type === 'field' || type === 'metric') &&
    (columns !== undefined) === (type === 'relationship');
  return type && isComplete
    ? { type, connection, dataset, name, columns: columns?.split(',') ?? [] }
    : undefined;
}

/** Undefined if the text is not a term or a rule. */
export function parseWikiSubject(
  subject: string,
): { readonly type: 'term' | 'rule'; readonly slug: string } | undefined {
  const { type, slug = '' } =
    /^(?<type>term|rule):(?<slug>[a-z0-9_]+)$/.exec(subject)?.groups ?? {};
  return type === 'term' || type === 'rule' ? { type, slug } : undefined;
}
