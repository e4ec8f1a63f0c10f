import { openFindings } from '../findings.ts';
import type { ExtractContext, Extraction, Item, Source } from '../source.ts';
import { openTables } from '../tables.ts';
import { claimFacts } from './claims.ts';
import type { DbtConfig } from './config.ts';
import { fetchProject } from './fetch.ts';
import { projectFile } from './files/project-file.ts';
import { isArtifactKey, readArtifacts } from './artifacts/read-artifacts.ts';
import { readFiles } from './files/read-files.ts';
import { hasMeaning } from './files/sql.ts';
import { united } from './artifacts/merge-artifacts.ts';

const extractor = 'dbt@1';

export const dbt: Source<DbtConfig> = {
  extractor,
  fetch: fetchProject,
  // Where dbt has not run, as in a fresh clone, the artifacts of an earlier run elsewhere still hold.
  covers: (key) => !isArtifactKey(key),
  isFrame: (key) => key === projectFile,
  extract,
};

function extract(
  items: readonly Item[],
  { connection, config, catalogs }: ExtractContext<DbtConfig>,
): readonly Extraction[] {
  const findings = openFindings(items, { connection, extractor });
  const sorted = items.toSorted((a, b) => (a.key < b.key ? -1 : 1));
  const files = readFiles(sorted, config);
  claimFacts(
    united(files, readArtifacts(sorted)),
    openTables(catalogs, config.warehouse),
    findings,
  );
  for (const { item, sql } of files?.sql ?? []) {
    const place = { key: item.key, line: 1 };
    if (sql.unknown.length > 0)
      findings.problem(place, `the project does not have ${[...new Set(sql.unknown)].join(', ')}`);
    if (hasMeaning(sql.text)) findings.unread(place, { what: 'sql', text: sql.text });
  }
  return findings.extractions();
}
