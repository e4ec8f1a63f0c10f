import type { CatalogTable } from '../../src/context/catalog/catalog.ts';
import { subjects, type Claim, type Evidence } from '../../src/context/claims/claim.ts';
import type { ConnectionFindings, ProjectFindings } from '../../src/ingest/fetch/findings.ts';
import type { FileTree } from '../../src/ingest/publish/project-files.ts';
import { applyWrites } from '../../src/ingest/publish/rendering.ts';
import { renderProject } from '../../src/ingest/render/render.ts';
import { scanClaims } from '../../src/scan/scan-claims.ts';
import { itemPath } from '../../src/sources/source.ts';

/** What a project of many tables and terms consists of. */
export interface ProjectShape {
  readonly tables: number;
  readonly columns: number;
  readonly terms: number;
  /** Terms of one page of the handbook. */
  readonly termsPerPage?: number;
  /** Of how many columns the warehouse has a comment. */
  readonly comments?: 'none' | 'half';
  /** The number of a table whose last column has another type. */
  readonly retyped?: number;
}

const words = ['net', 'gross', 'order', 'customer', 'billing', 'shipping', 'open', 'first'];
const nouns = ['amount', 'status', 'date', 'code', 'address', 'region', 'count', 'name'];
const types = ['decimal', 'string', 'date', 'integer', 'string', 'boolean', 'decimal', 'datetime'];

/**
 * What an ingest of a warehouse and a handbook finds, without having either: every table has a
 * declared key and refers to the one before it.
 */
export function largeFindings(shape: ProjectShape): ProjectFindings {
  return { connections: [warehouse(shape)], sources: [handbook(shape)] };
}

/** The files of the project after an ingest: made by the code that an ingest writes with. */
export function writeLarge(findings: ProjectFindings, tree: FileTree = new Map()): FileTree {
  return applyWrites(tree, renderProject(findings, tree).writes);
}

/** The paths of the files that differ. */
export function changedPaths(before: FileTree, after: FileTree): string[] {
  const paths = new Set([...before.keys(), ...after.keys()]);
  return [...paths].filter((path) => before.get(path) !== after.get(path)).sort();
}

/** The bytes of the lines that a diff adds. */
export function addedBytes(before: FileTree, after: FileTree): number {
  const added = changedPaths(before, after).flatMap((path) => {
    const known = new Set(before.get(path)?.split('\n'));
    return (after.get(path) ?? '').split('\n').filter((line) => !known.has(line));
  });
  return added.reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0);
}

/** The bytes of the files whose path starts so. */
export function bytesBelow(tree: FileTree, folder: string): number {
  const own = [...tree].filter(([path]) => path.startsWith(folder));
  return own.reduce((sum, [, text]) => sum + Buffer.byteLength(text), 0);
}

function warehouse(shape: ProjectShape): ConnectionFindings {
  const tables = Array.from({ length: shape.tables }, (_, at) => tableOf(at, shape));
  const catalog = { connection: 'shop', dialect: 'postgres', firstSchema: 'main', tables };
  const declared = {
    status: 'accepted',
    origin: 'declared',
    probability: 1,
    evidence: {},
  } as const;
  const claims = scanClaims({
    catalog,
    primaryKeys: tables.map((table) => ({ ...declared, table, columns: ['id'] })),
    links: tables.slice(1).map((table, at) => ({
      ...declared,
      from: { table, columns: ['parent_id'] },
      to: { table: tables[at] ?? table, columns: ['id'] },
      cardinality: 'many_to_one' as const,
    })),
  });
  return { catalog, claims, warehouse: () => Promise.reject(new Error('there is none')) };
}

function tableOf(at: number, { columns, comments, retyped }: ProjectShape): CatalogTable {
  const word = words[at % words.length];
  return {
    schema: 'main',
    table: `${word}_records_${at}`,
    kind: 'table',
    columns: Array.from({ length: columns }, (_, column) => ({
      ...columnOf(at, column, comments),
      ...(retyped === at && column === columns - 1 && { type: 'unknown' as const }),
    })),
    primaryKey: ['id'],
    uniqueKeys: [],
    foreignKeys: [],
  };
}

function columnOf(table: number, column: number, comments: ProjectShape['comments']) {
  const key = ['id', 'parent_id'][column];
  const noun = nouns[(table + column) % nouns.length] ?? '';
  const type = types[(table + column) % types.length] as CatalogTable['columns'][number]['type'];
  return {
    name: key ?? `${words[(column * 3 + table) % words.length]}_${noun}_${column}`,
    nativeType: key === undefined ? type : 'integer',
    type: key === undefined ? type : ('integer' as const),
    nullable: key === undefined,
    ...(comments === 'half' &&
      column % 2 === 1 && { comment: `The ${noun} of the record, as it was entered first.` }),
  };
}

function handbook({ terms, termsPerPage = 200 }: ProjectShape): ProjectFindings['sources'][number] {
  const pages = Array.from({ length: Math.ceil(terms / termsPerPage) }, (_, page) => {
    const first = page * termsPerPage;
    const length = Math.min(termsPerPage, terms - first);
    const key = `page_${page}.md`;
    const titles = Array.from({ length }, (_row, row) => termTitle(first + row));
    const body = titles.map((title) => `| ${title} | ${definitionOf(title)} |\n`).join('');
    return { key, body: `# Page ${page}\n\n| Term | Definition |\n|---|---|\n${body}`, titles };
  });
  return {
    connection: 'handbook',
    extractor: 'docs@1',
    items: pages.map(({ key, body }) => ({ key, path: key, body })),
    extractions: pages.map(({ key, titles }) => ({
      key,
      claims: titles.flatMap((title, row) => termClaims(title, key, row + 5)),
    })),
    readings: new Map(),
  };
}

function termTitle(at: number): string {
  return `${words[at % words.length]} ${nouns[(at * 5) % nouns.length]} ${at}`;
}

function definitionOf(title: string): string {
  return `What the company calls ${title}, without tax.`;
}

function termClaims(title: string, page: string, line: number): Claim[] {
  const evidence: Evidence = {
    connection: 'handbook',
    origin: 'code',
    extractor: 'docs@1',
    item: itemPath('handbook', page),
    location: `line ${line}`,
    quote: `${title} | ${definitionOf(title)}`,
    confidence: 0.9,
  };
  const subject = subjects.term(title);
  return [
    { subject, kind: 'title', body: title, evidence: [evidence] },
    { subject, kind: 'definition', body: definitionOf(title), evidence: [evidence] },
  ];
}
