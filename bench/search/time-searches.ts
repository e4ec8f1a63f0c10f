import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { updateIndex } from '../../src/search/index.ts';
import { searchIndex } from '../../src/search/search.ts';
import { openState } from '../../src/store/state.ts';
import { buildCompany } from './build-company.ts';
import { companies } from './score.ts';

/** The time of the first search and of half of the others, over all things of the companies. */
export function timeSearches(): string {
  const dir = mkdtempSync(join(tmpdir(), 'ktx-bench-search-'));
  const state = openState(dir);
  try {
    const documents = companies.flatMap((company) =>
      buildCompany(company).documents.map((document) => ({
        ...document,
        subject: `${document.subject} ${company.name}`,
        refs: document.refs?.map((ref) => `${ref} ${company.name}`),
      })),
    );
    updateIndex(state, { connection: 'w', documents, fingerprint: '1' });
    const questions = companies.flatMap((company) => company.questions.map(({ text }) => text));
    const times = questions.map((question) => {
      const start = performance.now();
      searchIndex(state, question, { limit: 20 });
      return performance.now() - start;
    });
    const [first = 0] = times;
    const sorted = times.toSorted((left, right) => left - right);
    const at = (share: number) => (sorted[Math.floor(sorted.length * share)] ?? 0).toFixed(1);
    return `${documents.length} things: first ${first.toFixed(1)} ms, p50 ${at(0.5)} ms, p95 ${at(0.95)} ms`;
  } finally {
    state.close();
    rmSync(dir, { recursive: true, force: true });
  }
}
