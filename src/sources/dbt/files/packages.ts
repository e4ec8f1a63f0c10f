import { isRecord, parseJson } from '../../../lib/json.ts';
import type { Item } from '../../source.ts';
import type { DbtLeftOut } from '../dbt-project.ts';

/** The key of the item that counts the models of installed packages. */
export const packagesKey = 'packages.jsonl';

/** Where dbt installs packages; the second is what older versions call it. */
export const packageFolders = ['dbt_packages', 'dbt_modules'] as const;

/** The body of the item: a line for each package that has models. */
export function packagesBody(files: readonly string[]): string {
  const names = files.flatMap((file) => /^\w+\/([^/]+)\/models\//.exec(file)?.[1] ?? []);
  return [...Map.groupBy(names, (name) => name)]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, models]) => `${JSON.stringify({ package: name, models: models.length })}\n`)
    .join('');
}

/** The packages whose models are in no artifact: their files are not read. */
export function readUnreadPackages(
  items: readonly Item[],
  relations: Iterable<string>,
): readonly DbtLeftOut[] {
  const item = items.find(({ key }) => key === packagesKey);
  if (item === undefined) return [];
  const built = new Set(Array.from(relations, (id) => id.split('.')[1]));
  return item.body.split('\n').flatMap((text, index) => {
    const line = parseJson(text);
    const name = isRecord(line) ? line['package'] : undefined;
    if (!isRecord(line) || typeof name !== 'string' || built.has(name)) return [];
    return [
      {
        place: { key: packagesKey, line: index + 1 },
        what: 'package without a manifest.json',
        name: `${name}: ${String(line['models'])} models`,
      },
    ];
  });
}
