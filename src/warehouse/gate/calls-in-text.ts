/**
 * The functions of `names` that a text may call. For some functions the analyzer has a node kind of
 * its own, without the name, so the text itself is searched.
 */
export function callsInText(names: readonly string[], text: string): readonly string[] {
  const lower = text.toLowerCase();
  return names.filter((name) => lower.includes(name.toLowerCase()) && isCalled(name, text));
}

function isCalled(name: string, text: string): boolean {
  const call = new RegExp(`(?<![\\p{L}\\p{N}_$])${RegExp.escape(name)}[\`"]?\\s*\\(`, 'iu');
  return call.test(text);
}
