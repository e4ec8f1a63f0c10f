type Schema = Readonly<Record<string, unknown>>;

/**
 * Where a value breaks a JSON Schema: as much of 2020-12 as the published schema of Ossie uses.
 * Throws at a keyword that it does not know.
 */
export function violations(schema: Schema, value: unknown): string[] {
  return violationsAt(schema, { value, root: schema, at: '' });
}

function violationsAt(
  schema: Schema,
  { value, root, at }: Pick<Case, 'value' | 'root' | 'at'>,
): string[] {
  return Object.entries(schema).flatMap(([keyword, rule]) => {
    const check = keywords[keyword];
    if (check === undefined) throw new Error(`JSON Schema: ${keyword} is not known here`);
    return check({ rule, value, root, at, schema });
  });
}

interface Case {
  readonly rule: unknown;
  readonly value: unknown;
  readonly root: Schema;
  readonly at: string;
  readonly schema: Schema;
}

const nothing = () => [];
const isRecord = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const record = (value: unknown): Schema => (isRecord(value) ? value : {});
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

const keywords: Readonly<Record<string, (one: Case) => string[]>> = {
  $schema: nothing,
  $id: nothing,
  $defs: nothing,
  title: nothing,
  description: nothing,
  examples: nothing,
  $ref: ({ rule, value, root, at }) =>
    violationsAt(record(record(root['$defs'])[String(rule).replace('#/$defs/', '')]), {
      value,
      root,
      at,
    }),
  type: ({ rule, value, at }) => {
    const type = Array.isArray(value) ? 'array' : value === null ? 'null' : typeof value;
    return type === rule ? [] : [`${at}: ${type} in place of ${String(rule)}`];
  },
  const: ({ rule, value, at }) => (value === rule ? [] : [`${at}: not ${String(rule)}`]),
  enum: ({ rule, value, at }) =>
    list(rule).includes(value)
      ? []
      : [`${at}: ${JSON.stringify(value)} is not among ${JSON.stringify(rule)}`],
  required: ({ rule, value, at }) =>
    isRecord(value)
      ? list(rule).flatMap((key) =>
          Object.hasOwn(value, String(key)) ? [] : [`${at}: no ${String(key)}`],
        )
      : [],
  properties: ({ rule, value, root, at }) =>
    Object.entries(record(rule)).flatMap(([key, inner]) =>
      Object.hasOwn(record(value), key)
        ? violationsAt(record(inner), { value: record(value)[key], root, at: `${at}.${key}` })
        : [],
    ),
  additionalProperties: ({ rule, value, schema, at }) => {
    if (rule !== false) return [];
    return Object.keys(record(value)).flatMap((key) =>
      Object.hasOwn(record(schema['properties']), key) ? [] : [`${at}: ${key} is not allowed`],
    );
  },
  items: ({ rule, value, root, at }) =>
    list(value).flatMap((one, index) =>
      violationsAt(record(rule), { value: one, root, at: `${at}[${index}]` }),
    ),
  minItems: ({ rule, value, at }) =>
    list(value).length >= Number(rule) ? [] : [`${at}: fewer than ${String(rule)}`],
  oneOf: ({ rule, value, root, at }) => {
    const fitting = list(rule).filter(
      (inner) => violationsAt(record(inner), { value, root, at }).length === 0,
    );
    return fitting.length === 1 ? [] : [`${at}: fits ${fitting.length} of oneOf`];
  },
};
