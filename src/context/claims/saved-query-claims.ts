/** The claims about saved queries of all warehouses. */
export const savedQueryClaimsPath = 'claims/queries.jsonl';

/** The warehouse and the name in a subject such as `query:shop.monthly_revenue`. */
export interface SavedQueryRef {
  readonly connection: string;
  readonly name: string;
}

/** The subject of a saved query, as search prints it. */
export function savedQuerySubject({ connection, name }: SavedQueryRef): string {
  return `query:${connection}.${name}`;
}

/** Undefined if the text is not the subject of a saved query. */
export function parseSavedQuerySubject(subject: string): SavedQueryRef | undefined {
  const [, connection = '', name = ''] = /^query:([^./\\]+)\.(\w+)$/.exec(subject) ?? [];
  return name === '' ? undefined : { connection, name };
}

/** The file of a saved query, relative to the project. */
export function savedQueryPath({ connection, name }: SavedQueryRef): string {
  return `semantic-layer/${connection}/queries/${name}.yaml`;
}
