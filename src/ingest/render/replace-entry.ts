import { parseDatasetFile } from '../../context/merge/merge-dataset.ts';
import { isList, isMapping, yamlFile } from '../../context/merge/yaml-text.ts';
import { keyOrder } from '../../context/merge/yaml-values.ts';
import { canonicalJson, type Json } from '../../lib/json.ts';

/**
 * Replaces (or adds) one metric or field in a dataset's file. Returns the text unchanged if it
 * cannot be parsed.
 */
export function replaceEntry(
  text: string,
  list: 'metrics' | 'fields',
  entry: { readonly name: string },
): string {
  const parsed = parseDatasetFile(text);
  if ('reason' in parsed) return text;
  const { [list]: entries, ...others } = parsed.mapping;
  const otherEntries = isList(entries)
    ? entries.filter((candidate) => !isMapping(candidate) || candidate['name'] !== entry.name)
    : [];
  const newEntries = [...otherEntries, JSON.parse(canonicalJson(entry)) as Json];
  const pairs = Object.entries({ ...others, [list]: newEntries }).sort(
    ([a], [b]) => keyOrder.indexOf(a) - keyOrder.indexOf(b),
  );
  return yamlFile('', Object.fromEntries(pairs));
}
