import type { EngineName } from '../../support/warehouses.ts';

/** Draws of a seed: the same every time. */
export interface Dice {
  below(limit: number): number;
  one<T>(list: readonly T[]): T;
  chance(share: number): boolean;
}

export function diceOf(seed: number): Dice {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let value = Math.imul(state ^ (state >>> 15), state | 1);
    value ^= value + Math.imul(value ^ (value >>> 7), value | 61);
    return ((value ^ (value >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number): number => Math.floor(next() * limit);
  return {
    below,
    one: <T>(list: readonly T[]): T => list[below(list.length)] as T,
    chance: (share) => next() < share,
  };
}

/** What an engine's statements are made of; `harm` must never run, the rest may. */
interface Words {
  readonly functions: readonly string[];
  readonly harm: {
    readonly calls: readonly string[];
    readonly tables: readonly string[];
    readonly tails: readonly string[];
  };
  /** What may stand between two words, and what looks like it. */
  readonly gaps: readonly string[];
  readonly texts: readonly string[];
  readonly names: readonly ((name: string) => string)[];
  readonly casts: readonly string[];
}

const doubled = (name: string): string => `"${name}"`;
const commonGaps = [
  ' ',
  ' ',
  ' ',
  ' ',
  '\n',
  '\t',
  '/**/',
  '/* ; */',
  ' -- x\n',
  " /* ' */ ",
  ' /* " */ ',
  '\r\n',
  '\f',
  '\v',
  '\u00a0',
  '--\n',
  '',
];

const words: Readonly<Record<EngineName, Words>> = {
  postgres: {
    functions: [
      'upper',
      'lower',
      'abs',
      'coalesce',
      'length',
      'max',
      'count',
      'array_agg',
      'concat',
      'md5',
      'jsonb_build_object',
      'row_number',
    ],
    harm: {
      calls: [
        "pg_read_file('{file}')",
        'evil()',
        "nextval('s')",
        'pg_sleep(9)',
        "set_config('work_mem', '1MB', false)",
        "lo_import('{file}')",
        "pg_ls_dir('.')",
        "current_setting('ktx.secret')",
        "dblink('', '')",
        "query_to_xml('DELETE FROM canary', true, true, '')",
        '(canary).rowf',
        '1 ### 2',
        "pg_catalog.pg_read_file('{file}')",
        'pg_terminate_backend(1)',
        "pg_file_write('{out}', 'x', false)",
        "lo_export(1, '{out}')",
        '5::dom',
      ],
      tables: [
        'pg_authid',
        'pg_catalog.pg_roles',
        'pg_stat_activity',
        'information_schema.tables',
        'pg_settings',
        "pg_ls_dir('.')",
        "pg_read_file('{file}')",
        'only pg_roles',
        'pg_shadow',
      ],
      tails: [
        'FOR UPDATE',
        'FOR SHARE',
        'FOR NO KEY UPDATE OF t',
        'INTO x',
        '; DELETE FROM canary',
        '; COMMIT; DELETE FROM canary',
        'RETURNING 1',
        'FOR KEY SHARE SKIP LOCKED',
      ],
    },
    gaps: [...commonGaps, '/* /* */ */', '/* /* */'],
    texts: [
      "'x'",
      "E'\\''",
      "E'\\\\'",
      "'\\'",
      '$$x$$',
      "$a$'$a$",
      "U&'\\0041'",
      "'it''s'",
      "B'1'",
      "'a' \n'b'",
    ],
    names: [
      (name) => name,
      doubled,
      (name) => `public.${name}`,
      (name) => `U&"${name}"`,
      (name) => name.toUpperCase(),
    ],
    casts: ['int', 'text', 'numeric(10,2)', 'dom', 'regclass', 'point', 'xml', 'int[]'],
  },
  sqlite: {
    functions: [
      'upper',
      'lower',
      'abs',
      'coalesce',
      'length',
      'max',
      'count',
      'group_concat',
      'printf',
      'json_array',
      'row_number',
      'hex',
    ],
    harm: {
      calls: [
        "load_extension('x')",
        "readfile('{file}')",
        "writefile('{out}', 'x')",
        "edit('x')",
        'randomblob(1000000000)',
        'zeroblob(1000000000)',
        'fts3_tokenizer(1)',
        'sqlite_compileoption_get(1)',
        'sqlite_source_id()',
        'last_insert_rowid()',
        'changes()',
        "eval('DELETE FROM canary')",
        "RAISE(ABORT, 'x')",
        "t MATCH load_extension('x')",
        'optimize(t)',
        'fts5(1)',
      ],
      tables: [
        'sqlite_master',
        'sqlite_schema',
        'main.sqlite_master',
        'pragma_database_list',
        'pragma_table_list',
        'dbstat',
        'temp.sqlite_master',
        "fsdir('/')",
        'pragma_journal_mode',
        'pragma_wal_checkpoint',
        'sqlite_dbpage',
      ],
      tails: [
        '; DELETE FROM canary',
        "; ATTACH '{out}' AS x",
        "; VACUUM INTO '{out}'",
        'RETURNING 1',
        '; PRAGMA writable_schema = 1',
        '; CREATE TEMP TABLE x (a)',
      ],
    },
    gaps: [...commonGaps, '/*', '--'],
    texts: ["'x'", "'\\'", "'it''s'", "x'41'", '"x"', "'a''b'"],
    names: [
      (name) => name,
      doubled,
      (name) => `[${name}]`,
      (name) => `\`${name}\``,
      (name) => `main.${name}`,
      (name) => `'${name}'`,
    ],
    casts: ['INTEGER', 'TEXT', 'BLOB', 'NUMERIC'],
  },
  duckdb: {
    functions: [
      'upper',
      'lower',
      'coalesce',
      'length',
      'max',
      'count',
      'list',
      'concat',
      'md5',
      'list_transform',
      'row_number',
      'struct_pack',
    ],
    harm: {
      calls: [
        "getenv('HOME')",
        "nextval('s')",
        "read_text('{file}')",
        "current_setting('home_directory')",
        'abs(1)',
        "getvariable('x')",
        "query('DELETE FROM canary')",
        "sniff_csv('{file}')",
        'pg_sleep(1)',
        'txid_current()',
        'checkpoint()',
        "add_parquet_key('a', 'b')",
        "parquet_metadata('{file}')",
      ],
      tables: [
        "read_csv('{file}')",
        "'{file}'",
        '"{file}"',
        "read_text('{file}')",
        "glob('/*')",
        'duckdb_settings()',
        'duckdb_tables()',
        'information_schema.tables',
        'pg_catalog.pg_class',
        "query('SELECT 1')",
        "query_table('t')",
        'sqlite_master',
        'range(3)',
        "read_blob('{file}')",
        'duckdb_secrets()',
        "read_json('{file}')",
        'pragma_version()',
      ],
      tails: [
        '; DELETE FROM canary',
        'INTO x',
        "; COPY t TO '{out}'",
        "; ATTACH '{out}'",
        '; SET threads = 1',
        '; INSTALL httpfs',
        '; FORCE CHECKPOINT',
      ],
    },
    gaps: [...commonGaps, '#', '/* /* */'],
    texts: ["'x'", "'\\'", "E'\\''", '$$x$$', "'it''s'", "x'41'", "'a''b'"],
    names: [
      (name) => name,
      doubled,
      (name) => `main.${name}`,
      (name) => `data.main.${name}`,
      (name) => `'${name}'`,
    ],
    casts: ['INT', 'VARCHAR', 'DECIMAL(10,2)', 'INT[]', 'STRUCT(a INT)', 'JSON'],
  },
  mysql: {
    functions: [
      'upper',
      'lower',
      'abs',
      'coalesce',
      'length',
      'max',
      'count',
      'group_concat',
      'concat',
      'md5',
      'json_array',
      'row_number',
      'if',
      'insert',
    ],
    harm: {
      calls: [
        "load_file('{file}')",
        'evil()',
        'nextval(s)',
        'sleep(9)',
        "get_lock('a', 9)",
        "benchmark(900000000, md5('x'))",
        '@a := 1',
        '@@datadir',
        'user()',
        'NEXT VALUE FOR s',
        "sys_exec('id')",
        'any_value(1)',
        'setval(s, 9)',
        "master_pos_wait('a', 9)",
        'last_insert_id(7)',
        'lastval(s)',
        "!load_file('{file}')",
        '!sleep(9)',
      ],
      tables: [
        'mysql.user',
        'information_schema.tables',
        'information_schema . schemata',
        'performance_schema.threads',
        '`mysql`.`user`',
        'mysql.global_priv',
        "json_table(load_file('{file}'), '$' columns (a int path '$')) j",
      ],
      tails: [
        'FOR UPDATE',
        'LOCK IN SHARE MODE',
        "INTO OUTFILE '{out}'",
        "INTO DUMPFILE '{out}'",
        'INTO @x',
        '; DELETE FROM canary',
        'PROCEDURE ANALYSE()',
        'FOR SHARE',
        'RETURNING 1',
        'FOR UPDATE SKIP LOCKED',
      ],
    },
    gaps: [
      ...commonGaps,
      '/*!*/',
      '/*!99999 ',
      ' */',
      '#\n',
      " # '\n",
      '-- \n',
      '--',
      '/* /* */',
      '/*+ x */',
      '/*M! ',
      ' --\u00a0',
      '--\u2028',
      '\u3000',
    ],
    texts: [
      "'x'",
      "'\\''",
      "'\\\\'",
      "'\\'",
      '"x"',
      '"\\""',
      "'it''s'",
      "x'41'",
      "_utf8mb4'\\''",
      "N'x'",
      '"\'"',
      "'\"'",
      "'a' 'b'",
      '0x41',
      "b'1'",
      '1e1',
      '1.',
      '.5',
    ],
    names: [
      (name) => name,
      (name) => `\`${name}\``,
      (name) => name.toUpperCase(),
      (name) => `"${name}"`,
      (name) => `\`${name}\\\``,
    ],
    casts: ['SIGNED', 'CHAR', 'DECIMAL(10,2)', 'JSON', 'BINARY', 'DATE'],
  },
};

interface Corpora {
  readonly hostile: readonly string[];
  readonly legal: readonly string[];
}

/**
 * One statement: grown by a grammar with harm in places, or torn from the corpora and put together
 * otherwise.
 */
export function statement(engine: EngineName, { hostile, legal }: Corpora, dice: Dice): string {
  const kind = dice.below(10);
  if (kind < 5) return spaced(grown(engine, dice), words[engine], dice);
  const drawn = (): string[] => tokens(dice.one(dice.chance(0.5) ? legal : hostile));
  const torn = drawn();
  if (kind < 8) return torn.map((token) => mutated(token, words[engine], dice)).join('');
  const other = drawn();
  return [
    ...torn.slice(0, dice.below(torn.length + 1)),
    ' ',
    ...other.slice(dice.below(other.length + 1)),
  ].join('');
}

function tokens(sql: string): string[] {
  return sql.match(/'(?:[^']|'')*'|"[^"]*"|`[^`]*`|[\p{L}\p{N}_]+|\s+|[^]/gu) ?? [];
}

function mutated(token: string, { gaps, texts }: Words, dice: Dice): string {
  if (!dice.chance(0.04)) return token;
  if (/^\s+$/.test(token)) return dice.one(gaps);
  return dice.one([
    '',
    token + token,
    token.toUpperCase(),
    dice.one(texts),
    `(${token})`,
    `${token}${dice.one(gaps)}`,
    `${dice.one(gaps)}${token}`,
  ]);
}

function spaced(parts: readonly string[], { gaps }: Words, dice: Dice): string {
  const noise = dice.one([0, 0, 0, 0.05, 0.3]);
  return parts
    .reduce((sql, part) => sql + (dice.chance(noise) ? dice.one(gaps) : ' ') + part, '')
    .slice(1);
}

/** Statements that the catalog answers, before a query that makes them something else. */
const catalogForms = [
  'SHOW TABLES',
  'SHOW COLUMNS FROM',
  'SHOW CREATE TABLE t',
  'DESC t',
  'PRAGMA table_info(t)',
];
/** Names that are keywords to a parser or to an engine, but not to both. */
const softNames = ['percent', 'key', 'offset', 'first', 'natural', 'match', 'fetch'];

function grown(engine: EngineName, dice: Dice): string[] {
  const harm = { share: dice.one([0, 0, 0.02, 0.1]) };
  const grow = growth(words[engine], harm, dice);
  const query = grow.query(dice.below(3) + 1);
  const tail = dice.chance(harm.share * 2) ? [dice.one(words[engine].harm.tails)] : [];
  const head = dice.chance(0.08)
    ? [
        dice.one([
          'EXPLAIN',
          'EXPLAIN ANALYZE',
          '(',
          'TABLE',
          'DESCRIBE',
          'WITH x AS (',
          ...catalogForms,
        ]),
      ]
    : [];
  return [...head, ...query, ...tail];
}

function growth(
  { functions, harm: hostile, texts, names, casts }: Words,
  harm: { readonly share: number },
  dice: Dice,
) {
  const isHarm = (): boolean => dice.chance(harm.share);
  const name = (of: string): string => (dice.chance(0.05) ? dice.one(names)(of) : of);
  const column = (): string => name(dice.one(['a', 'a', 'a', 'b', 'b', 't.a', 'x', '*']));
  const call = (depth: number): string[] => [
    name(dice.one(functions)),
    '(',
    ...expression(depth - 1),
    ...(dice.chance(0.3) ? [',', ...expression(depth - 1)] : []),
    ')',
  ];
  const expression = (depth: number): string[] => {
    if (isHarm()) return [dice.one(hostile.calls)];
    if (depth <= 0)
      return [
        dice.chance(0.5) ? column() : dice.chance(0.3) ? dice.one(texts) : String(dice.below(9)),
      ];
    const [left, right] = [() => expression(depth - 1), () => expression(depth - 1)];
    const forms: readonly (() => string[])[] = [
      () => call(depth),
      () => [
        ...left(),
        dice.one([
          '+',
          '-',
          '*',
          '/',
          '=',
          '<',
          '||',
          'AND',
          'OR',
          '--',
          'LIKE',
          'IS',
          '%',
          '->',
          '::',
          '&&',
          '<=>',
          'MATCH',
          '= !',
        ]),
        ...right(),
      ],
      () => ['CASE', 'WHEN', ...left(), 'THEN', ...right(), 'END'],
      () => ['CAST', '(', ...left(), 'AS', dice.one(casts), ')'],
      () => ['(', ...query(depth - 1), ')'],
      () => ['EXISTS', '(', ...query(depth - 1), ')'],
      () => [...left(), 'IN', '(', ...(dice.chance(0.5) ? query(depth - 1) : right()), ')'],
      () => [...call(depth), 'OVER', '(', 'ORDER', 'BY', ...right(), ')'],
      () => ['-', ...left()],
      () => [...left(), 'BETWEEN', ...right(), 'AND', '1'],
    ];
    return dice.one(forms)();
  };
  const table = (depth: number): string[] => {
    if (isHarm()) return [dice.one(hostile.tables)];
    if (depth > 0 && dice.chance(0.25))
      return [
        '(',
        ...query(depth - 1),
        ')',
        dice.one(['', 'AS']),
        dice.one(['x', 't', 'canary', ...softNames]),
      ];
    return [name(dice.one(['t', 't', 't', 't', 't', 't', 'canary', 'x']))];
  };
  const from = (depth: number): string[] => {
    const joined = dice.chance(0.2)
      ? [
          dice.one([',', 'CROSS JOIN', 'NATURAL JOIN', 'LEFT JOIN LATERAL']),
          ...table(depth),
          ...(dice.chance(0.3) ? ['ON', ...expression(depth - 1)] : []),
        ]
      : [];
    return ['FROM', ...table(depth), ...joined];
  };
  const select = (depth: number): string[] => [
    'SELECT',
    ...(dice.chance(0.1) ? ['DISTINCT'] : []),
    ...expression(depth),
    ...(dice.chance(0.4) ? [',', ...expression(depth), 'AS', name('x')] : []),
    ...(dice.chance(0.1) ? [dice.one(softNames)] : []),
    ...(dice.chance(0.8) ? from(depth) : []),
    ...(dice.chance(0.3) ? ['WHERE', ...expression(depth)] : []),
    ...(dice.chance(0.1)
      ? [
          'GROUP',
          'BY',
          ...expression(depth - 1),
          ...(dice.chance(0.3) ? ['HAVING', ...expression(depth - 1)] : []),
        ]
      : []),
  ];
  const query = (depth: number): string[] => {
    const inner = isHarm()
      ? dice
          .one([
            'DELETE FROM canary',
            'UPDATE canary SET id = 0',
            'INSERT INTO canary VALUES (9)',
            'DROP TABLE canary',
          ])
          .split(' ')
      : undefined;
    const head = dice.chance(0.15)
      ? [
          'WITH',
          ...(dice.chance(0.2) ? ['RECURSIVE'] : []),
          name(dice.one(['x', 'canary', 't'])),
          'AS',
          '(',
          ...(inner ?? query(depth - 1)),
          ')',
        ]
      : [];
    const set =
      depth > 0 && dice.chance(0.15)
        ? [dice.one(['UNION', 'UNION ALL', 'INTERSECT', 'EXCEPT']), ...select(depth - 1)]
        : [];
    const order = dice.chance(0.15) ? ['ORDER', 'BY', ...expression(depth - 1)] : [];
    const limit = dice.chance(0.15) ? ['LIMIT', ...expression(0)] : [];
    return [...head, ...select(depth), ...set, ...order, ...limit];
  };
  return { query };
}
