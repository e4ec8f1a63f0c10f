import { mkdtemp, mkdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import * as fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import type { Catalog } from '../../src/context/catalog/catalog.ts';
import { catalogFiles, loadCatalog } from '../../src/context/catalog/catalog-files.ts';
import type { Claim } from '../../src/context/claims/claim.ts';
import { parseClaims, renderClaims, uniteClaims } from '../../src/context/claims/claims-file.ts';
import { uniteBases } from '../../src/context/merge/merge-base.ts';
import { UserError } from '../../src/lib/error.ts';
import { fieldTypes } from '../../src/sql/field-type.ts';

const folders: string[] = [];
afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true }))));

async function projectWith(files: readonly { path: string; text: string }[]): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'ktx-context-'));
  folders.push(dir);
  for (const { path, text } of files) {
    await mkdir(dirname(join(dir, path)), { recursive: true });
    await writeFile(join(dir, path), text);
  }
  return dir;
}

const text = fc.string({ unit: 'grapheme', maxLength: 12 });
const name = text.filter((one) => one !== '');
const ref = fc.record(
  { catalog: name, schema: fc.constantFrom('main', 'Main', 'index', 'x/../y'), table: name },
  { requiredKeys: ['schema', 'table'] },
);
const column = fc.record(
  {
    name,
    nativeType: text,
    type: fc.constantFrom(...fieldTypes),
    nullable: fc.boolean(),
    comment: text,
    values: fc.array(text),
  },
  { requiredKeys: ['name', 'nativeType', 'type', 'nullable'] },
);
const link = fc.record({
  columns: fc.array(name),
  to: fc.record({ table: ref, columns: fc.array(name) }),
});
const catalogs: fc.Arbitrary<Catalog> = fc.record({
  connection: fc.constant('shop'),
  dialect: fc.constantFrom('duckdb', 'postgres'),
  firstSchema: fc.constantFrom('main', 'public'),
  letters: fc.constantFrom(undefined, 'latin'),
  tables: fc.uniqueArray(
    fc
      .tuple(
        ref,
        fc.record({
          kind: fc.constantFrom('table', 'view'),
          columns: fc.array(column, { maxLength: 3 }),
          uniqueKeys: fc.array(fc.array(name)),
          foreignKeys: fc.array(link, { maxLength: 2 }),
        }),
      )
      .map(([one, rest]) => ({ ...one, ...rest })),
    {
      selector: (table) => JSON.stringify([table.catalog, table.schema, table.table]),
      maxLength: 6,
    },
  ),
});

describe('the catalog on disk', () => {
  it('comes back as it was, and its bytes do not depend on the order of tables', async () => {
    await fc.assert(
      fc.asyncProperty(catalogs, async (catalog) => {
        const files = catalogFiles(catalog);
        const loaded = await loadCatalog(await projectWith(files), 'shop');
        expect(loaded?.tables).toHaveLength(catalog.tables.length);
        expect(loaded).toMatchObject({
          connection: 'shop',
          dialect: catalog.dialect,
          firstSchema: catalog.firstSchema,
        });
        expect(loaded?.letters).toBe(catalog.letters);
        expect(loaded?.tables).toEqual(expect.arrayContaining([...catalog.tables]));
        expect(catalogFiles({ ...catalog, tables: catalog.tables.toReversed() })).toEqual(files);
        expect(loaded && catalogFiles(loaded)).toEqual(files);
        expect(new Set(files.map(({ path }) => path.toLowerCase())).size).toBe(files.length);
      }),
      { numRuns: 30 },
    );
  });

  it('has no counts, markers or whatever else a warehouse tells of its tables', () => {
    const table = {
      schema: 'main',
      table: 'orders',
      kind: 'table',
      columns: [],
      uniqueKeys: [],
      foreignKeys: [],
      rowEstimate: 12,
      marker: 'abc',
    };
    const files = catalogFiles({
      connection: 'shop',
      dialect: 'duckdb',
      firstSchema: 'main',
      tables: [table],
    });
    expect(files[1]?.text).toBe(
      '{"schema":"main","table":"orders","kind":"table","columns":[],"uniqueKeys":[],"foreignKeys":[]}\n',
    );
    const unsafe = catalogFiles({
      connection: 'shop',
      dialect: 'duckdb',
      firstSchema: 'main',
      tables: [{ ...table, schema: 'index' }],
    });
    expect(unsafe[1]?.path).toMatch(/^sources\/shop\/index_[0-9a-f]{6}\.jsonl$/);
  });

  it('is undefined where nothing was published, and names file and line where it is damaged', async () => {
    expect(await loadCatalog(await projectWith([]), 'shop')).toBeUndefined();
    const table = {
      schema: 'main',
      table: 'orders',
      kind: 'table',
      columns: [],
      uniqueKeys: [],
      foreignKeys: [],
    };
    const files = catalogFiles({
      connection: 'shop',
      dialect: 'duckdb',
      firstSchema: 'main',
      tables: [table],
    });
    const broken = await projectWith(
      files.map((file) =>
        file.path.includes('main') ? { ...file, text: `${file.text}<<<<<<<\n` } : file,
      ),
    );
    await expect(loadCatalog(broken, 'shop')).rejects.toThrow('sources/shop/main.jsonl:2');
    await expect(loadCatalog(await projectWith(files.slice(0, 1)), 'shop')).rejects.toThrow(
      UserError,
    );
  });
});

const evidence = fc.record(
  {
    connection: fc.constant('shop'),
    origin: fc.constantFrom('catalog', 'code'),
    extractor: fc.constant('keys@1'),
    quote: text,
    measured: fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value))),
    confidence: fc.constantFrom(0.5, 0.9),
  },
  { requiredKeys: ['connection', 'origin', 'extractor', 'confidence'] },
);
const claims: fc.Arbitrary<Claim[]> = fc.array(
  fc.record({
    subject: fc.constantFrom('dataset:shop.a', 'field:shop.a.b'),
    kind: fc.constantFrom('description', 'tags'),
    body: fc.oneof(text, fc.constant({ b: 1, a: [null] }), fc.constant({ a: [null], b: 1 })),
    evidence: fc.array(evidence, { minLength: 1, maxLength: 3 }),
  }),
);
const bases = fc
  .dictionary(
    fc.constantFrom('source', 'fields.a.type', 'fields.b.type'),
    fc.uniqueArray(fc.constantFrom('1a', '2b', null), { minLength: 1 }),
  )
  .map(
    (record) =>
      new Map(
        Object.entries(record).map(([path, states]) => [
          path,
          states.toSorted((a, b) => ((a ?? '') < (b ?? '') ? -1 : 1)),
        ]),
      ),
  );

describe('a claims file', () => {
  it('comes back as it was, in one order', () => {
    fc.assert(
      fc.property(claims, bases, (all, base) => {
        const written = renderClaims({ base, claims: all, damaged: [] });
        const read = parseClaims('claims/shop/a.jsonl', written ?? '');
        expect(read).toEqual({ base, claims: uniteClaims(all), damaged: [] });
        expect(renderClaims(read)).toBe(written);
        expect(renderClaims({ base, claims: all.toReversed(), damaged: [] })).toBe(written);
        const apart = all.flatMap((claim) =>
          claim.evidence.map((one) => ({ ...claim, evidence: [one] })),
        );
        expect(renderClaims({ base, claims: apart, damaged: [] })).toBe(written);
      }),
    );
  });

  it('gives one line for each piece of evidence of one claim', () => {
    const one = { connection: 'shop', origin: 'code', extractor: 'a@1', confidence: 1 } as const;
    const claim = (extractor: string): Claim => ({
      subject: 'dataset:shop.a',
      kind: 'description',
      body: 'x',
      evidence: [{ ...one, extractor }],
    });
    expect(
      renderClaims({
        base: new Map(),
        claims: [claim('b@1'), claim('a@1'), claim('a@1')],
        damaged: [],
      }),
    ).toMatchInlineSnapshot(`
      "{"subject":"dataset:shop.a","kind":"description","body":"x","evidence":{"confidence":1,"connection":"shop","extractor":"a@1","origin":"code"}}
      {"subject":"dataset:shop.a","kind":"description","body":"x","evidence":{"confidence":1,"connection":"shop","extractor":"b@1","origin":"code"}}
      "
    `);
  });

  it('loses no line that it cannot read, and says where it is', () => {
    const good =
      '{"subject":"dataset:shop.a","kind":"tags","body":["x"],"evidence":{"connection":"shop","origin":"code","extractor":"a@1","confidence":1}}';
    const read = parseClaims(
      'claims/shop/a.jsonl',
      `{"base":{"source":"1a"}}\r\n${good}\n{"subject": "cut o\n\n{"subject":"x","kind":"new"}\n`,
    );
    expect(read.claims).toHaveLength(1);
    expect(read.damaged.map(({ path, line }) => `${path}:${line}`)).toEqual([
      'claims/shop/a.jsonl:3',
      'claims/shop/a.jsonl:5',
    ]);
    expect(renderClaims(read)).toBe(
      `{"base":{"source":"1a"}}\n${good.replace('"connection":"shop","origin":"code","extractor":"a@1","confidence":1', '"confidence":1,"connection":"shop","extractor":"a@1","origin":"code"')}\n{"subject": "cut o\n{"subject":"x","kind":"new"}\n`,
    );
  });

  it('reads what a merge of two branches leaves: both bases are known, the markers go', () => {
    const read = parseClaims(
      'a',
      '<<<<<<< HEAD\n{"base":{"source":"1a"}}\n=======\n{"base":{"source":"2b","dataset":"3c"}}\n>>>>>>> other\n',
    );
    expect(read.base).toEqual(
      new Map([
        ['source', ['1a', '2b']],
        ['dataset', ['3c']],
      ]),
    );
    expect(read.damaged).toHaveLength(3);
    expect(renderClaims(read)).toBe('{"base":{"dataset":"3c"}}\n{"base":{"source":["1a","2b"]}}\n');
  });

  it('records the states before and after while an artifact is being written', () => {
    const either = uniteBases(
      new Map([
        ['a', ['1']],
        ['b', ['2']],
        ['d', ['5']],
      ]),
      new Map([
        ['b', ['3']],
        ['c', ['4']],
        ['d', ['5']],
      ]),
    );
    expect(either).toEqual(
      new Map([
        ['a', [null, '1']],
        ['b', ['2', '3']],
        ['d', ['5']],
        ['c', [null, '4']],
      ]),
    );
    expect(
      parseClaims('a', renderClaims({ base: either, claims: [], damaged: [] }) ?? '').base,
    ).toEqual(either);
  });
});
