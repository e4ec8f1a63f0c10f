import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { updateIndex } from '../../src/search/index.ts';
import type { SearchDocument } from '../../src/search/documents.ts';
import { searchIndex } from '../../src/search/search.ts';
import { openState } from '../../src/store/state.ts';
import { buildCompany } from './build-company.ts';
import { clinic } from './clinic.ts';
import type { Company } from './concept.ts';
import { plainBm25, wordsOf } from './plain-bm25.ts';
import { shop } from './shop.ts';
import { software } from './software.ts';

export const companies: readonly Company[] = [shop, software, clinic];

/** How a question was answered. */
export interface Answered {
  readonly company: string;
  readonly question: string;
  readonly table: string;
  /** Half of the questions, by their hash: ranking was not tuned on them. */
  readonly isSetAside: boolean;
  /** True if the question has no word of the name of what it looks for. */
  readonly isIndirect: boolean;
  /** Position of the right table among the tables that were found, from 0; -1 if it was not. */
  readonly ktx: number;
  readonly bm25: number;
}

/** A part of the search that can be left out, to see what it is worth. */
export type Lane = 'passages' | 'members' | 'priors' | 'refs';

export function answerQuestions(without?: Lane): readonly Answered[] {
  return companies.flatMap((company) => {
    const { datasets, documents } = buildCompany(company);
    const dir = mkdtempSync(join(tmpdir(), 'ktx-bench-search-'));
    const state = openState(dir);
    try {
      const indexed = documents.flatMap((document) => leaveOut(document, without));
      updateIndex(state, {
        connection: 'w',
        documents: indexed.filter(({ connection }) => connection === 'w'),
        fingerprint: '1',
      });
      updateIndex(state, {
        connection: 'wiki',
        documents: indexed.filter(({ connection }) => connection === 'wiki'),
        fingerprint: '1',
      });
      const bm25 = plainBm25(datasets);
      return company.concepts.flatMap(({ table, questions }) =>
        questions.map((question): Answered => {
          const hits = searchIndex(state, question, { limit: 200 });
          const tables = hits.flatMap(({ kind, parent }) => (kind === 'passage' ? [] : [parent]));
          const words = wordsOf(table);
          return {
            company: company.name,
            question,
            table,
            isSetAside:
              Number.parseInt(createHash('sha256').update(question).digest('hex').slice(0, 8), 16) %
                2 ===
              0,
            isIndirect: !wordsOf(question).some((word) =>
              words.some((own) => own === word || own === `${word}s` || `${own}s` === word),
            ),
            ktx: [...new Set(tables)].indexOf(table),
            bm25: bm25(question).indexOf(table),
          };
        }),
      );
    } finally {
      state.close();
      rmSync(dir, { recursive: true, force: true });
    }
  });
}

function leaveOut(document: SearchDocument, without: Lane | undefined): readonly SearchDocument[] {
  switch (without) {
    case undefined:
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

/** The share of questions whose table is among the first hits. */
export function recall(answers: readonly Answered[], by: 'ktx' | 'bm25', first: number): number {
  return answers.filter((one) => one[by] >= 0 && one[by] < first).length / answers.length;
}
