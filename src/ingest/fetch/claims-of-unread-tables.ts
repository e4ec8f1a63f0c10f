import { datasetNames } from '../../context/catalog/dataset-names.ts';
import type { Claim } from '../../context/claims/claim.ts';
import { parseClaims } from '../../context/claims/claims-file.ts';
import { parseSubject } from '../../context/claims/subject.ts';
import { isMapping } from '../../context/merge/yaml-text.ts';
import type { ScanResult } from '../../scan/scan.ts';
import { readProjectFiles } from '../publish/project-files.ts';

/**
 * The recorded keys, links and proposed measures of tables that this scan could not read, or had
 * no budget for. A scan that did not look at a table removes nothing.
 */
export async function claimsOfUnreadTables(
  dir: string,
  { catalog, unread }: Pick<ScanResult, 'catalog' | 'unread'>,
): Promise<Claim[]> {
  if (unread.length === 0) return [];
  const names = datasetNames(catalog);
  const datasets = new Set(unread.map((table) => names.dataset(table)));
  const files = await readProjectFiles(dir, [`claims/${catalog.connection}`]);
  const recorded = [...files].flatMap(([path, text]) => parseClaims(path, text).claims);
  return recorded.filter(({ subject, body, evidence }) => {
    const isFromScan = evidence.some(
      ({ origin, extractor }) =>
        origin === 'code' && /^(?:keys|relationships|measures)@/.test(extractor),
    );
    const ends = [parseSubject(subject)?.dataset, isMapping(body) ? body['to'] : undefined];
    return isFromScan && ends.some((end) => typeof end === 'string' && datasets.has(end));
  });
}
