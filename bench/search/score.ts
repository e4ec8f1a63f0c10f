import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SearchDocument } from '../../src/search/documents.ts';
import { updateIndex } from '../../src/search/index.ts';
import { searchIndex, type SearchHit, type SearchOptions } from '../../src/search/search.ts';
import type { Dataset } from '../../src/semantic/model/dataset.ts';
import { openState } from '../../src/store/state.ts';
import { type BuiltCompany, buildCompany } from './build-company.ts';
import { clinic } from './clinic.ts';
import { hashNumber } from './hash-number.ts';
import { plainBm25, wordsOf } from './plain-bm25.ts';
import { type Question, readCompany, type WholeCompany } from './read-company.ts';
import { shop } from './shop.ts';
import { software } from './software.ts';

export const companies: readonly WholeCompany[] = [shop, software, clinic].map(readCompany);

/** Positions from 0; -1 if the right answer is not among what was found. */
type Positions = Readonly<Record<Ranking, number>>;

/** The search of ktx, and BM25 over the text of tables without and with the pages about them. */
export type Ranking = 'ktx' | 'bm25' | 'bm25WithPages';

/** How a question was answered. */
export interface Answered extends Question, Positions {
  readonly company: string;
  /** Half of the new questions, by their hash: ranking was not tuned on them. */
  readonly isSetAside: boolean;
  /** True if the question has no word of the name of what it looks for. */
  readonly isIndirect: boolean;
}

/** A part of the search that can be left out, to see what it is worth. */
export type Lane = DocumentLane | SearchLane;
type SearchLane = NonNullable<SearchOptions['without']>;
/** A part of the documents that can be left out. */
type DocumentLane = 'passages' | 'members' | 'priors' | 'refs';
export const lanes: readonly Lane[] = [
  'passages',
  'members',
  'priors',
  'refs',
  'weak words',
  'languages',
  'related words',
  'copies',
];

export function answerQuestions(without?: Lane): readonly Answered[] {
  return companies.flatMap((company) => {
    const built = buildCompany(company);
    const { datasets, documents } = built;
    const dir = mkdtempSync(join(tmpdir(), 'ktx-bench-search-'));
    const state = openState(dir);
    try {
      const indexed = documents.flatMap((document) => leaveOut(document, without));
      for (const connection of ['w', 'wiki']) {
        const own = indexed.filter((document) => document.connection === connection);
        updateIndex(state, { connection, documents: own, fingerprint: '1' });
      }
      const texts = datasets.map((dataset) => ({ table: dataset.dataset, text: textOf(dataset) }));
      const bm25 = plainBm25(texts);
      const bm25WithPages = plainBm25(
        texts.map(({ table, text }) => ({ table, text: `${text} ${pagesAbout(table, built)}` })),
      );
      return company.questions.map((question): Answered => {
        const { text, table, isOld } = question;
        const words = wordsOf(table);
        return {
          ...question,
          company: company.name,
          isSetAside: !isOld && hashNumber(text) % 2 === 0,
          isIndirect: !wordsOf(text).some((word) =>
            words.some((own) => own === word || own === `${word}s` || `${own}s` === word),
          ),
          ktx: placesOf(searchIndex(state, text, { limit: 200, without: laneOf(without) })).indexOf(
            table,
          ),
          bm25: bm25(text).indexOf(table),
          bm25WithPages: bm25WithPages(text).indexOf(table),
        };
      });
    } finally {
      state.close();
      rmSync(dir, { recursive: true, force: true });
    }
  });
}

/**
 * The places that hits lead to, in their order. A right answer, fixed before the first run: the
 * mart itself, anything that is a part of it (a metric, a field), or a page that names it and no
 * other table. Hits that lead to one table take one place. A page that names no table or several
 * takes a place of its own, and is never right; so does each step of a transformation that is not
 * the mart.
 */
function placesOf(hits: readonly SearchHit[]): readonly string[] {
  const places = hits.map(({ kind, parent, subject, refs = [] }) => {
    if (kind !== 'passage') return parent;
    const [only = '', ...others] = refs;
    return only === '' || others.length > 0 ? subject : only.slice(only.lastIndexOf('.') + 1);
  });
  return [...new Set(places)];
}

function textOf({ dataset, description = '', fields = [], metrics = [] }: Dataset): string {
  const parts = [...fields, ...metrics].map((part) => `${part.name} ${part.description ?? ''}`);
  return [dataset, description, ...parts].join(' ');
}

function pagesAbout(table: string, { pages }: BuiltCompany): string {
  return pages
    .filter(({ tables }) => tables.includes(table))
    .map(({ body }) => body)
    .join(' ');
}

function laneOf(without: Lane | undefined): SearchLane | undefined {
  switch (without) {
    case 'weak words':
    case 'languages':
    case 'related words':
    case 'copies':
      return without;
    case 'passages':
    case 'members':
    case 'priors':
    case 'refs':
    case undefined:
      return undefined;
  }
  return without satisfies never;
}

function leaveOut(document: SearchDocument, without: Lane | undefined): readonly SearchDocument[] {
  switch (without) {
    case undefined:
    case 'weak words':
    case 'languages':
    case 'related words':
    case 'copies':
      return [document];
    case 'passages':
      return document.kind === 'passage' ? [] : [document];
    case 'members':
      return [document.kind === 'passage' ? document : { ...document, members: undefined }];
    case 'priors':
      return [{ ...document, prior: undefined }];
    case 'refs':
      return [{ ...document, refs: undefined }];
  }
  return without satisfies never;
}

/** The share of questions whose right answer is among the first places. */
export function recall(answers: readonly Answered[], by: Ranking, first: number): number {
  return answers.filter((one) => one[by] >= 0 && one[by] < first).length / answers.length;
}
