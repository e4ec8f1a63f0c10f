import { keyOrder } from '../../context/merge/yaml-values.ts';
import { parseDatasetFile } from '../../context/merge/merge-dataset.ts';
import { isList, isMapping, yamlFile } from '../../context/merge/yaml-text.ts';
import { canonicalJson, type Json } from '../../lib/json.ts';

/** The text of a dataset's file with that metric or field in place of the one of its name; as it is where it cannot be read. */
export function replaceEntry(
  text: string,
  list: 'metrics' | 'fields',
  entry: { readonly name: string },
): string {
  const parsed = parseDatasetFile(text);
  if ('reason' in parsed) return text;
  const { [list]: entries, ...others } = parsed.mapping;
  const standing = isList(entries)
    ? entries.filter((one) => !isMapping(one) || one['name'] !== entry.name)
    : [];
  const all = [...standing, JSON.parse(canonicalJson(entry)) as Json];
  const pairs = Object.entries({ ...others, [list]: all }).sort(
    ([a], [b]) => keyOrder.indexOf(a) - keyOrder.indexOf(b),
  );
  return yamlFile('', Object.fromEntries(pairs));
}
