/** The dataset that something belongs to. */
export interface DatasetRef {
  readonly connection: string;
  readonly dataset: string;
}

/** The parts of a subject such as `field:warehouse.orders.status`. */
export interface SubjectParts extends DatasetRef {
  readonly type: (typeof types)[number];
  /** The field or metric. */
  readonly name: string;
  /** Own columns of a relationship. */
  readonly columns: readonly string[];
}

const types = ['dataset', 'field', 'metric', 'relationship'] as const;
const pattern =
  /^(?<type>\w+):(?<connection>[^.]+)\.(?<dataset>[^.()]+)(?:\.(?<name>[^.()]+)|\((?<columns>[^()]+)\))?$/;

/** Undefined where the text is no subject of a warehouse. */
export function parseSubject(subject: string): SubjectParts | undefined {
  const {
    type: written,
    connection = '',
    dataset = '',
    name = '',
    columns,
  } = pattern.exec(subject)?.groups ?? {};
  const type = types.find((one) => one === written);
  const isComplete =
    (name !== '') === (type === 'field' || type === 'metric') &&
    (columns !== undefined) === (type === 'relationship');
  return type && isComplete
    ? { type, connection, dataset, name, columns: columns?.split(',') ?? [] }
    : undefined;
}

/** Undefined where the text is no subject of the wiki. */
export function parseWikiSubject(
  subject: string,
): { readonly type: 'term' | 'rule'; readonly slug: string } | undefined {
  const { type, slug = '' } =
    /^(?<type>term|rule):(?<slug>[a-z0-9_]+)$/.exec(subject)?.groups ?? {};
  return type === 'term' || type === 'rule' ? { type, slug } : undefined;
}
