/** What a command prints, by the tool that answers the same. The longest command comes first. */
const toolsByCommand: Readonly<Record<string, string>> = {
  'ktx sl query (query_metrics)': 'query_metrics',
  'ktx sl queries': 'search_context with kinds: [query]',
  'ktx sl query': 'query_metrics',
  'ktx sl read': 'read_context',
  'ktx sl list': 'read_context without name',
  'ktx explain': 'read_context',
  'ktx search': 'search_context',
  'ktx ingest': 'the ingest tool',
};

/** A hint that was written for the command line, for an agent: names tools instead of commands. */
export function hintForAgent(hint: string): string {
  const named = Object.entries(toolsByCommand).reduce(
    (text, [command, tool]) => text.replaceAll(`\`${command}\``, tool).replaceAll(command, tool),
    hint,
  );
  return /\bktx [a-z]/.test(named) ? `${named} (Only a person runs commands of ktx.)` : named;
}
