import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { scanFile, scoreOf, type Score } from '../score.ts';
import { writeDatabase } from '../write-database.ts';
import { baselinePairs, type BaselinePairs } from './baselines.ts';
import { patternDatabases, type PatternUse } from './registry.ts';

/** The scores of one database: its keys hidden, its primary keys known, and simple matchers. */
export interface PatternScore {
  readonly name: string;
  readonly hidden: Score;
  readonly known: Score;
  readonly baseline: BaselinePairs;
}

/** Scores all databases of the families of one use. The same rows in every run. */
export async function scorePatterns(use: PatternUse, only = ''): Promise<PatternScore[]> {
  const dir = mkdtempSync(join(tmpdir(), 'ktx-patterns-'));
  const scores: PatternScore[] = [];
  try {
    for (const { name, database } of patternDatabases(use)) {
      if (!name.includes(only)) continue;
      const path = join(dir, `${name.replace('/', '-')}.sqlite`);
      writeDatabase(path, database, 'keys');
      const { truth } = database;
      const hidden = scoreOf(name, await scanFile(path, 'all'), truth);
      const known = scoreOf(name, await scanFile(path, 'links'), truth);
      scores.push({ name, hidden, known, baseline: await baselinePairs(path, truth) });
      rmSync(path);
    }
  } finally {
    rmSync(dir, { recursive: true });
  }
  return scores;
}
