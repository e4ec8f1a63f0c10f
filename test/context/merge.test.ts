import * as fc from 'fast-check';
import { CORE_SCHEMA, load } from 'js-yaml';
import { describe, expect, it } from 'vitest';
import { uniteBases, type MergeBase } from '../../src/context/merge/merge-base.ts';
import {
  isFileDeleted,
  mergeDataset,
  type MergeResult,
} from '../../src/context/merge/merge-dataset.ts';
import { type Dataset, datasetSchema } from '../../src/semantic/model/dataset.ts';

const orders: Dataset = {
  dataset: 'orders',
  source: 'main.orders',
  primary_key: ['id'],
  default_time: 'created_at',
  description: 'One row per order.',
  fields: [
    { name: 'id', type: 'integer' },
    { name: 'customer_id', type: 'integer' },
    { name: 'status', type: 'string', description: 'Payment state', values: ['paid', 'refunded'] },
    { name: 'created_at', type: 'datetime' },
  ],
  metrics: [{ name: 'count', agg: 'count' }],
  relationships: [{ to: 'customers', on: { customer_id: 'id' }, role: 'buyer' }],
};

function merge(
  compiled: Dataset | undefined,
  before?: Partial<Pick<MergeResult, 'text' | 'base' | 'edits'> & { readonly isMoved: boolean }>,
): MergeResult {
  const { text, base = new Map(), edits = [], isMoved } = before ?? {};
  const known = { connection: 'shop', dataset: 'orders', compiled, isMoved };
  return mergeDataset({ ...known, text, base, edits });
}

function read(text: string | undefined): Dataset {
  return datasetSchema.parse(load(text ?? '', { schema: CORE_SCHEMA }));
}

const first = merge(orders);
const written = first.text ?? '';

function afterEdit(
  edit: (text: string) => string,
  compiled: Dataset | undefined = orders,
): MergeResult {
  const text = edit(written);
  expect(text).not.toBe(written);
  return merge(compiled, { ...first, text });
}

function withField(name: string, change: Partial<NonNullable<Dataset['fields']>[number]>): Dataset {
  return {
    ...orders,
    fields: orders.fields?.map((field) => (field.name === name ? { ...field, ...change } : field)),
  };
}

describe('a file that ktx writes', () => {
  it('is concise and reads back as it was meant', () => {
    expect(written).toMatchInlineSnapshot(`
      "# Kept current by ktx: what you change here stays yours.
      dataset: orders
      source: main.orders
      primary_key: [id]
      default_time: created_at
      description: One row per order.
      fields:
        - {name: id, type: integer}
        - {name: customer_id, type: integer}
        - {name: status, type: string, description: Payment state, values: [paid, refunded]}
        - {name: created_at, type: datetime}
      metrics:
        - {name: count, agg: count}
      relationships:
        - {to: customers, on: {customer_id: id}, role: buyer}
      "
    `);
    expect(read(written)).toEqual(orders);
  });

  it('survives any text in any place', () => {
    const texts = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string({ unit: 'grapheme' }),
      fc.constantFrom(
        'yes',
        'No',
        'null',
        '~',
        '007',
        '1e3',
        '0x1f',
        '.inf',
        '2024-01-01',
        '1:30',
        '- a',
        'a: b',
        'a #b',
        "it's",
        '"',
        '\\',
        'a\\"',
        ' a',
        'a ',
        '',
        '\n',
        'line\nline',
        'tab\there',
        '😀',
        '\u0085',
        '\u2028',
        '\uFEFF',
        '%',
        '@a',
        '`a`',
        '!a',
        '&a',
        '*a',
        '|',
        '>',
        '---',
        '...',
        '?',
        '=',
        '<<',
        'é',
        '名前',
        '[a',
        '{b',
        'a, b',
      ),
    );
    fc.assert(
      fc.property(
        fc.array(
          texts.filter((text) => !/[\ud800-\udfff]/u.test(text)),
          { minLength: 4, maxLength: 4 },
        ),
        ([a = '', b = '', c = '', d = '']) => {
          const dataset: Dataset = {
            ...orders,
            description: a,
            fields: [
              { name: 'x', expr: { default: `${b}.` }, description: c, values: [d, a, true, 7] },
            ],
          };
          expect(read(merge(dataset).text)).toEqual(dataset);
        },
      ),
      { numRuns: 200 },
    );
  });
});

describe('what a person did stays', () => {
  it('returns the same bytes where ktx has nothing to change, whatever the line ends', () => {
    for (const text of [
      written,
      written.replaceAll('\n', '\r\n'),
      `\uFEFF${written}`,
      written.replace('{name: id, ', '{ "name":   id ,\n     '),
    ]) {
      expect(merge(orders, { ...first, text })).toMatchObject({
        outcome: 'unchanged',
        text,
        edits: [],
      });
    }
  });

  it('keeps a changed value and goes on with the others', () => {
    const edit = (text: string) =>
      text.replace('description: Payment state', "description: 'Paid or not' ");
    const result = afterEdit(edit, withField('status', { description: 'State', values: ['paid'] }));
    expect(result.kept).toEqual(['fields.status.description']);
    expect(result.text).toContain(
      "{name: status, type: string, description: 'Paid or not' , values: [paid]}",
    );
  });

  it('keeps what was added, in its place and in its style', () => {
    const metric =
      '  # what finance calls revenue\n  - name: revenue   # net\n    agg: sum\n    of: amount\n\n';
    const result = afterEdit((text) => text.replace('metrics:\n', `metrics:\n${metric}`), {
      ...orders,
      metrics: [
        { name: 'count', agg: 'count' },
        { name: 'latest', agg: 'max', of: 'created_at' },
      ],
    });
    expect(result.text).toContain(
      `metrics:\n${metric}  - {name: count, agg: count}\n  - {name: latest, agg: max, of: created_at}\n`,
    );
    expect(result.kept).toEqual(['metrics.revenue']);
    expect(result.stale).toEqual([]);
  });

  it('does not bring back what was taken out, and says so in a claim', () => {
    const result = afterEdit((text) =>
      text
        .replace(', description: Payment state', '')
        .replace('  - {name: count, agg: count}\n', '  []\n'),
    );
    expect(result.outcome).toBe('unchanged');
    expect(result.edits.map(({ subject, kind, body }) => ({ subject, kind, body }))).toEqual([
      { subject: 'field:shop.orders.status', kind: 'edit', body: { description: null } },
      { subject: 'metric:shop.orders.count', kind: 'edit', body: null },
    ]);
    const later = merge(withField('status', { description: 'Something new' }), result);
    expect(later).toMatchObject({ outcome: 'unchanged', text: result.text, edits: result.edits });
  });

  it('forgets a removal once the person has the value back', () => {
    const without = afterEdit((text) => text.replace(', description: Payment state', ''));
    const back = merge(orders, { ...without, text: written.replace('Payment state', 'Mine') });
    expect(back).toMatchObject({
      outcome: 'unchanged',
      edits: [],
      kept: ['fields.status.description'],
    });
  });

  it('takes for its own again what was taken out and put back as it was', () => {
    const without = afterEdit((text) =>
      text.replace(/.*name: status.*\n/, '').replace('description: One row per order.\n', ''),
    );
    expect(without.edits).toHaveLength(2);
    expect(merge(orders, { ...without, text: written })).toEqual({
      ...first,
      outcome: 'unchanged',
    });
  });

  it('leaves out what was taken out of an entry that goes and comes back', () => {
    const without = afterEdit((text) => text.replace(', description: Payment state', ''));
    const gone = merge(
      { ...orders, fields: orders.fields?.filter(({ name }) => name !== 'status') },
      without,
    );
    const back = merge(orders, gone);
    expect(back.outcome).toBe('written');
    expect(read(back.text).fields?.at(-1)).toEqual({
      name: 'status',
      type: 'string',
      values: ['paid', 'refunded'],
    });
  });

  it('leaves out what was taken out before the whole file went and came back', () => {
    const without = afterEdit((text) => text.replace(/.*name: status.*\n/, ''));
    const gone = merge(undefined, { ...without, text: undefined });
    expect(gone.edits.map(({ subject }) => subject)).toEqual([
      'field:shop.orders.status',
      'dataset:shop.orders',
    ]);
    expect(merge(undefined, gone).edits).toEqual(gone.edits);
    expect(merge(orders, { ...gone, text: without.text })).toMatchObject({
      outcome: 'unchanged',
      edits: without.edits,
    });
  });

  it('takes a renamed field for a removed and an added one', () => {
    const result = afterEdit((text) =>
      text.replace('{name: status, ', '{name: state, expr: status, '),
    );
    expect(result.edits.map(({ subject }) => subject)).toEqual(['field:shop.orders.status']);
    expect(read(result.text).fields?.map(({ name }) => name)).toEqual([
      'id',
      'customer_id',
      'state',
      'created_at',
    ]);
  });

  it('treats the definition of a metric as one thing', () => {
    const result = afterEdit(
      (text) =>
        text.replace(
          '{name: count, agg: count}',
          "{name: count, agg: count, where: status = 'paid'}",
        ),
      {
        ...orders,
        metrics: [{ name: 'count', expr: 'count(*)', description: 'Orders' }],
      },
    );
    expect(read(result.text).metrics).toEqual([
      { name: 'count', agg: 'count', where: "status = 'paid'", description: 'Orders' },
    ]);
  });

  it('leaves the type of a field alone that a person computes', () => {
    const own = (text: string) =>
      text.replace('fields:\n', 'fields:\n  - {name: margin, expr: amount - cost}\n');
    const result = afterEdit(own, {
      ...orders,
      fields: [
        ...(orders.fields ?? []),
        { name: 'margin', type: 'string', description: 'A column' },
      ],
    });
    expect(read(result.text).fields?.[0]).toEqual({
      name: 'margin',
      expr: 'amount - cost',
      description: 'A column',
    });
  });

  it('only adds to a file that was there before ktx', () => {
    const text =
      'dataset: orders\nsource: other.orders\nfields:\n- name: id\n  description: The number on the invoice\n';
    const result = merge(orders, { text });
    expect(result.text).toMatchInlineSnapshot(`
      "dataset: orders
      source: other.orders
      primary_key: [id]
      default_time: created_at
      description: One row per order.
      fields:
      - name: id
        type: integer
        description: The number on the invoice
      - {name: customer_id, type: integer}
      - {name: status, type: string, description: Payment state, values: [paid, refunded]}
      - {name: created_at, type: datetime}
      metrics:
        - {name: count, agg: count}
      relationships:
        - {to: customers, on: {customer_id: id}, role: buyer}
      "
    `);
    expect(result.base.has('source')).toBe(false);
  });

  it('leaves a file alone that cannot be read or edited, and says why', () => {
    const broken = [
      written.replace('[id]', '[id'),
      `${written}---\ndataset: other\n`,
      '',
      'just text',
      written.replace('fields:', 'fields: {a: 1}\nother:'),
      'dataset: orders\nfields: &all\n  - &one {name: id}\n  - *one\n',
    ];
    for (const text of broken) {
      const changed = withField('id', { type: 'string', description: 'x' });
      const result = merge(changed, { ...first, text });
      expect(result).toMatchObject({ outcome: 'left_alone', text, base: first.base, edits: [] });
      expect(result.reason).not.toBe('');
    }
  });
});

describe('what is gone', () => {
  it('goes from the file, and the file with it when nothing of a person is in it', () => {
    const smaller: Dataset = {
      ...orders,
      description: undefined,
      fields: orders.fields?.slice(0, 2),
      relationships: undefined,
    };
    const result = merge(smaller, first);
    expect(read(result.text)).toEqual(read(merge(smaller).text));
    expect(merge(undefined, first)).toMatchObject({ outcome: 'deleted', text: undefined });
  });

  it('stays where a person wrote, with what they wrote', () => {
    const edit = (text: string) =>
      text.replace('- {name: status, ', '# ask Ana\n  - {name: status, hidden: true, ') +
      '# the end\n';
    const result = merge(undefined, { ...first, text: edit(written) });
    expect(result.text).toMatchInlineSnapshot(`
      "# Kept current by ktx: what you change here stays yours.
      dataset: orders
      fields:
        # ask Ana
        - {name: status, hidden: true}
      # the end
      "
    `);
    expect(result.stale).toEqual(['fields.status', 'dataset']);
    expect(merge(undefined, result)).toMatchObject({ outcome: 'unchanged', text: result.text });
  });

  it('stays with its condition where a person described a segment', () => {
    const segments = [{ name: 'paid', where: "status = 'paid'" }];
    const before = merge({ ...orders, segments });
    const text = before.text?.replace('{name: paid, ', '{name: paid, description: Ours, ');
    expect(text).not.toBe(before.text);
    const result = merge(orders, { ...before, text });
    expect(read(result.text).segments).toEqual([{ ...segments[0], description: 'Ours' }]);
    expect(result.stale).toEqual(['segments.paid']);
  });

  it('stays where a person wrote a value and no comment', () => {
    const edit = (text: string) => text.replace('{name: status, ', '{name: status, hidden: true, ');
    const result = merge(undefined, { ...first, text: edit(written) });
    expect(result.text).toContain('{name: status, hidden: true}');
    expect(result.stale).toEqual(['fields.status', 'dataset']);
  });

  it('leaves what a person took out of it, for when it comes back', () => {
    const without = afterEdit((text) =>
      text.replace(/.*name: status.*\n/, '').replace('default_time: created_at\n', ''),
    );
    const gone = merge(undefined, without);
    expect(gone).toMatchObject({ outcome: 'deleted', text: undefined, edits: without.edits });
    expect(merge(undefined, gone)).toMatchObject({
      outcome: 'unchanged',
      text: undefined,
      edits: without.edits,
    });
    const back = merge(orders, gone);
    expect(back).toMatchObject({ outcome: 'written', text: without.text, edits: without.edits });
    expect(merge(orders, back)).toEqual({ ...back, outcome: 'unchanged' });
  });

  it('goes from the first line too, and from among the other keys of a line', () => {
    const change = (text: string) =>
      `description: One row per order.\n${text.replace('description: One row per order.\n', '').replace('{name: id, type: integer}', '{type: integer, name: id}')}`;
    const result = afterEdit(change, {
      ...withField('id', { type: undefined, description: 'Number' }),
      description: undefined,
    });
    expect(result.text).toMatch(/^# Kept current by ktx/);
    expect(result.text).toContain('  - {name: id, description: Number}\n');
  });

  it('keeps a value with a comment inside, and updates the rest of the file', () => {
    const values = '{name: status, type: string, description: Payment state, values: ';
    const edit = (text: string) =>
      text.replace(`${values}[paid, refunded]`, `${values}[paid, # net\n      refunded]`);
    const result = afterEdit(edit, withField('status', { description: 'State', values: ['paid'] }));
    expect(result.outcome).toBe('written');
    expect(result.kept).toEqual(['fields.status.values']);
    expect(result.text).toContain('description: State, values: [paid, # net\n      refunded]');
  });

  it('keeps a comment of a line that goes', () => {
    const result = afterEdit(
      (text) => text.replace('created_at, type: datetime}', 'created_at, type: datetime} # UTC'),
      {
        ...orders,
        fields: orders.fields?.slice(0, 3),
      },
    );
    expect(result.text).toContain('values: [paid, refunded]}\n  # UTC\nmetrics:');
  });

  it('takes a deleted file for a removed dataset', () => {
    const file = { text: undefined, base: first.base, edits: [] };
    expect(isFileDeleted(file)).toBe(true);
    const result = merge(undefined, { ...first, text: undefined });
    expect(result).toMatchObject({ outcome: 'unchanged', text: undefined });
    expect(result.edits).toMatchObject([
      { subject: 'dataset:shop.orders', kind: 'edit', body: null },
    ]);
    const back = { outcome: 'unchanged', text: written, base: first.base, edits: [] };
    expect(merge(undefined, { ...result, text: written })).toMatchObject(back);
    expect(merge(orders, { ...result, text: written })).toMatchObject({
      outcome: 'unchanged',
      kept: [],
      edits: [],
    });
    const united = { ...file, base: uniteBases(new Map(), first.base) };
    expect(isFileDeleted(united)).toBe(false);
    // Once it is recorded, a branch that never had the file changes nothing.
    expect(isFileDeleted({ ...united, edits: result.edits })).toBe(true);
    expect(merge(orders, { ...first, ...united, edits: result.edits })).toMatchObject({
      outcome: 'unchanged',
      text: undefined,
      edits: result.edits,
    });
  });

  it('writes no second file for a dataset that another file declares', () => {
    const nothing = { ...first, text: undefined, base: new Map(), edits: [] };
    const result = merge(orders, { ...nothing, isMoved: true });
    expect(result).toMatchObject({ outcome: 'unchanged', text: undefined });
    expect(result.edits).toMatchObject([{ subject: 'dataset:shop.orders', kind: 'edit' }]);
  });
});

/** Datasets that differ in everything that a scan may change from one run to the next. */
const datasets = fc
  .record({
    description: fc.option(fc.constantFrom('One row per order.', 'Orders: all of them', 'x'), {
      nil: undefined,
    }),
    key: fc.option(fc.constantFrom(['id'], ['id', 'no']), { nil: undefined }),
    columns: fc.subarray(['id', 'no', 'a', 'b', 'c', 'd'], { minLength: 1 }),
    types: fc.array(fc.constantFrom('string', 'integer', 'date'), { minLength: 6, maxLength: 6 }),
    notes: fc.array(fc.option(fc.constantFrom('first', 'a, b', "it's"), { nil: undefined }), {
      minLength: 6,
      maxLength: 6,
    }),
    links: fc.subarray(['a', 'b', 'c']),
    roles: fc.boolean(),
  })
  .map(({ description, key, columns, types, notes, links, roles }) =>
    datasetSchema.parse({
      dataset: 'orders',
      source: 'main.orders',
      ...(key ? { primary_key: key } : {}),
      ...(description === undefined ? {} : { description }),
      fields: columns.map((name, at) => ({
        name,
        type: types[at],
        ...(notes[at] === undefined ? {} : { description: notes[at] }),
      })),
      metrics: [{ name: 'count', agg: 'count' }],
      ...(links.length === 0
        ? {}
        : {
            relationships: links.map((name) => ({
              to: `${name}s`,
              on: { [name]: 'id' },
              ...(roles ? { role: `by_${name}` } : {}),
            })),
          }),
    }),
  );

/** Things that people do to a line of a file. `mark` is unique, so that it can be found again. */
const habits: readonly ((line: string, mark: string) => string)[] = [
  (line, mark) => `${line.match(/^ */)?.[0] ?? ''}# ${mark}\n${line}`,
  (line, mark) => (line.includes('#') ? line : `${line}   # ${mark}`),
  (line, mark) => line.replace(/^( *)- \{name: (\w+)/, `$1- {name: $2, synonyms: [${mark}]`),
  (line, mark) =>
    line.replace(/^( *)- \{name: (\w+), type: \w+/, `$1- {name: $2, type: string, expr: ${mark}`),
  (line, mark) => line.replace(/^( *)- \{name: /, `$1- {name: ${mark}, expr: x}\n$1- {name: `),
  (line, mark) =>
    line.replace(
      /^( *)- \{name: (\w+), type: (\w+)\}$/,
      `$1- name: $2\n$1  # ${mark}\n$1  type:   "$3"\n$1  synonyms:\n$1    - ${mark}`,
    ),
  (line, mark) => line.replace(/^description: .*/, `description: >-\n  ${mark}\n  and more`),
  (line, mark) => line.replace(/^(source: .*)/, `$1\ntags:\n- ${mark}\n`),
  (line, mark) => line.replace(/role: \w+/, `role: ${mark}`),
  (line) => (line.startsWith('  - {name: ') ? '' : line),
  (line) => line.replace(/, type: \w+/, ''),
  (line) => `\n${line}`,
  (line) => line.replace('{name:', '{  name :').replace(/\}$/, '  , }'),
];

const edits = fc.array(fc.record({ line: fc.nat(30), habit: fc.nat(habits.length) }), {
  maxLength: 8,
});

function edited(
  text: string,
  changes: readonly { line: number; habit: number }[],
): { text: string; marks: string[] } {
  const lines = text.split('\n');
  for (const [at, { line, habit }] of changes.entries()) {
    const index = line % (lines.length - 1);
    const [taken = ''] = lines.splice(index, 1);
    const change = habits[habit];
    if (change) lines.splice(index, 0, ...change(taken, `mark${at}`).split('\n'));
    else lines.splice((line * 7) % lines.length, 0, taken);
  }
  const result = lines.join('\n');
  return {
    text: result,
    marks: changes.map((_, at) => `mark${at}`).filter((mark) => result.includes(mark)),
  };
}

function reads(text: string): boolean {
  try {
    return datasetSchema.safeParse(load(text, { schema: CORE_SCHEMA })).success;
  } catch {
    return false;
  }
}

function fieldsByName(text: string | undefined) {
  return new Map(read(text).fields?.map((field) => [field.name, field]));
}

const places = fc.record({ crlf: fc.boolean(), mark: fc.boolean() });

type FieldsByName = ReturnType<typeof fieldsByName>;

/** Fields that the person left alone have their new type; fields that they took out stay out. */
function expectFieldsMerged(
  after: Dataset,
  { old, theirs, now }: Record<'old' | 'theirs' | 'now', FieldsByName>,
): void {
  for (const { name, type } of after.fields ?? []) {
    const isNew = !theirs.has(name) && !old.has(name);
    const isAsWritten = theirs.has(name) && theirs.get(name)?.type === old.get(name)?.type;
    const untouched = theirs.get(name)?.expr === undefined && (isNew || isAsWritten);
    if (untouched) expect(now.get(name)?.type).toBe(type);
    if (old.has(name) && !theirs.has(name)) expect(now.has(name)).toBe(false);
  }
}

describe('for any edits of a person and any change of the claims', () => {
  it('no byte of the person is lost, what is not theirs is brought up to date, and a second run changes nothing', () => {
    let merged = 0;
    fc.assert(
      fc.property(
        fc.tuple(datasets, datasets),
        edits,
        places,
        ([before, after], changes, { crlf, mark }) => {
          const start = merge(before);
          const person = edited(start.text ?? '', changes);
          fc.pre(reads(person.text));
          const text =
            (mark ? '\uFEFF' : '') + (crlf ? person.text.replaceAll('\n', '\r\n') : person.text);
          expect(merge(before, { ...start, text }).text).toBe(text);
          const result = merge(after, { ...start, text });
          expect(result.outcome).not.toBe('left_alone');
          for (const one of person.marks) expect(result.text).toContain(one);
          if (crlf) expect(result.text).not.toMatch(/[^\r]\n/);
          expect(result.text?.startsWith('\uFEFF')).toBe(mark);

          expectFieldsMerged(after, {
            old: fieldsByName(start.text),
            theirs: fieldsByName(person.text),
            now: fieldsByName(result.text?.replace('\uFEFF', '')),
          });
          const again = merge(after, result);
          expect(again).toEqual({ ...result, outcome: 'unchanged' });
          merged += result.outcome === 'written' ? 1 : 0;
        },
      ),
      { numRuns: 200 },
    );
    expect(merged).toBeGreaterThan(60);
  });

  it('without an edit, the result is what a new file would be, in the order that stood', () => {
    fc.assert(
      fc.property(datasets, datasets, (before, after) => {
        const result = merge(after, merge(before));
        const sorted = (dataset: Dataset) => ({
          ...dataset,
          fields: dataset.fields?.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
          relationships: dataset.relationships?.toSorted((a, b) => (a.to < b.to ? -1 : 1)),
        });
        expect(sorted(read(result.text))).toEqual(sorted(after));
        expect(result).toMatchObject({ kept: [], stale: [], edits: [] });
        expect(merge(undefined, result).outcome).toBe('deleted');
      }),
    );
  });

  it('a run that is killed between the two writes leaves nothing that looks like an edit', () => {
    fc.assert(
      fc.property(datasets, datasets, edits, (before, after, changes) => {
        const start = merge(before);
        const person = edited(start.text ?? '', changes);
        fc.pre(reads(person.text));
        const unharmed = merge(before, { ...start, text: person.text });
        const result = merge(after, unharmed);
        const interim: MergeBase = uniteBases(unharmed.base, result.base);
        for (const text of [unharmed.text, result.text]) {
          const resumed = merge(after, { text, base: interim, edits: unharmed.edits });
          expect(read(resumed.text)).toEqual(read(result.text));
          expect(resumed.edits).toEqual(result.edits);
          expect(new Set(resumed.base)).toEqual(new Set(result.base));
        }
        expect(
          merge(after, { text: undefined, base: uniteBases(new Map(), merge(after).base) }).text,
        ).toBe(merge(after).text);
      }),
    );
  });
});
